-- remembering: a dead letter is removed, and what came of it kept under its id and its job's. True if it was there.
-- ARGV[4] the list it lies in; ARGV[5] the letter; ARGV[6] its id; ARGV[7] its job or ''; ARGV[8] the job that came of
-- it, or '' where its message went back to a list.
local function remember()
  local removed = call('LREM', ARGV[4], 0, ARGV[5])
  if removed == 0 then return false end
  call('SET', NAMES.root .. 'replayed:' .. ARGV[6], ARGV[8], 'EX', NAMES.expiry)
  if ARGV[7] ~= '' then call('SET', NAMES.root .. 'replayed:' .. ARGV[7], ARGV[8], 'EX', NAMES.expiry) end
  return true
end
