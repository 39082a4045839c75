-- letter_back: the message of a dead letter goes back to a list, once. Returns 1 if it went, 0 if the letter is gone.
-- ARGV[4] to [8] as remembering says; ARGV[9] the list it goes to; ARGV[10] the message.
-- include: ground
-- include: remembering
if not remember() then return 0 end
call('LPUSH', ARGV[9], ARGV[10])
ring()
write_counts()
return 1
