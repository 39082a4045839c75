-- letters_purge: remove dead letters from the old end of their list. Returns how many went.
-- ARGV[4] the list; ARGV[5] failed before, as ISO 8601: a letter that does not say when is old; ARGV[6] at most so many.
-- include: ground
-- include: dating
local gone = 0
for _ = 1, tonumber(ARGV[6]) do
  local letter = call('LINDEX', ARGV[4], -1)
  if not letter then break end
  local at = told_at(letter)
  if at and at >= ARGV[5] then break end
  call('RPOP', ARGV[4])
  gone = gone + 1
end
return gone
