-- letters_purge: remove dead letters from the old end of their list. Returns how many went.
-- ARGV[4] failed before, as ISO 8601: a letter that does not say when is old; ARGV[5] at most so many. Its own key: the list.
-- include: ground
-- include: dating
local gone, list = 0, own_key(1)
for _ = 1, tonumber(ARGV[5]) do
  local letter = call('LINDEX', list, -1)
  if not letter then break end
  local at = told_at(letter)
  if at and at >= ARGV[4] then break end
  call('RPOP', list)
  gone = gone + 1
end
return gone
