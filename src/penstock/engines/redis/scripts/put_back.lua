-- put_back: new tickets for jobs that wait and whose tickets are in no list. Returns how many still waited.
-- ARGV[4] ids, packed.
-- include: ground
-- include: lanes
local put = 0
for _, id in ipairs(cmsgpack.unpack(ARGV[4])) do
  local task = read(id)
  if task and task.place == 'ready' then
    push(id, task)
    put = put + 1
  end
end
write_counts()
return put
