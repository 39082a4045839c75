-- workers: those whose beats are known: {id, what the beat said in pairs, how many jobs it holds} each.
-- include: ground
-- include: holders
local found = {}
for at, worker in ipairs(call('ZRANGE', K.workers, 0, -1)) do
  found[at] = {worker, call('HGETALL', NAMES.root .. 'worker:' .. worker), #held_by(worker)}
end
return found
