-- letter_back: the message of a dead letter goes back to a list, once. Returns 1 if it went, 0 if the letter is gone, 2 if
-- the bytes are that it names. ARGV[4] to [8] as remembering says; ARGV[9] the list it goes to; ARGV[10] the message;
-- ARGV[11] the key that holds it, where the letter has only its beginning, or ''.
-- include: ground
-- include: remembering
local message = ARGV[10]
if ARGV[11] ~= '' then
  message = call('GET', ARGV[11])
  if not message and call('EXISTS', NAMES.root .. 'replayed:' .. ARGV[6]) == 0 then return 2 end
end
if not remember() then return 0 end
call('LPUSH', ARGV[9], message)
if ARGV[11] ~= '' then call('DEL', ARGV[11]) end
ring()
write_counts()
return 1
