-- letter_back: the message of a dead letter goes back to a list, once. Returns 1 if it went, 0 if the letter is gone, 2 if
-- the bytes are that it names. ARGV[4], [5] and own keys 1 to 3 as remembering says; the fourth is the list it goes to, the
-- fifth holds the message where the letter has only its beginning. ARGV[6] the message.
-- include: ground
-- include: remembering
local message, kept = ARGV[6], own_key(5)
if kept then
  message = call('GET', kept)
  if not message and call('EXISTS', own_key(2)) == 0 then return 2 end
end
if not remember() then return 0 end
push_left(own_key(4), message)
if kept then call('DEL', kept) end
ring()
write_counts()
return 1
