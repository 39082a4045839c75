-- unheld: which of these jobs neither wait nor run here: unknown, or ended. Returns their ids. ARGV[4] ids, packed.
-- include: ground
local found = {}
for _, id in ipairs(cmsgpack.unpack(ARGV[4])) do
  local seen = call('HMGET', task_key(id), 'alias', 'place')
  local place = seen[1] and call('HGET', task_key(seen[1]), 'place') or seen[2]
  if not place or place == 'done' or place == 'failed' then found[#found + 1] = id end
end
return found
