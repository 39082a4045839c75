-- remembering: a dead letter is removed, and what came of it kept under its id and its job's. True if it was there.
-- Its own keys: the list it lies in, what remembers its id, what remembers its job (the same again without one).
-- ARGV[4] the letter; ARGV[5] the job that came of it, or '' where its message went back to a list.
local function remember()
  local removed = call('LREM', own_key(1), 0, ARGV[4])
  if removed == 0 then return false end
  call('SET', own_key(2), ARGV[5], 'EX', NAMES.expiry)
  call('SET', own_key(3), ARGV[5], 'EX', NAMES.expiry)
  return true
end
