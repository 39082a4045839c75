-- lost: attempts nobody runs any more: their worker is dead, or their lease ran out. Changes only what belongs to no
-- job: strangers' messages of dead workers go back, workers long dead and leases of jobs without a row are forgotten.
-- Returns {attempts: died, then ATTEMPT; workers: id, process, beat; the earliest end of a lease in micros or ''}.
-- ARGV[4] silent since before then is dead; ARGV[5] gone for certain, packed; ARGV[6] 1: only those;
-- ARGV[7] forget workers silent since before then.
-- include: ground
-- include: urgent
-- include: attempts
-- include: strangers
-- include: holders
-- include: lanes
-- include: lines
local certain = ARGV[6] == '1'
local dead, attempts, taken = {}, {}, {}

for _, worker in ipairs(cmsgpack.unpack(ARGV[5])) do dead[worker] = true end
if not certain then
  for _, worker in ipairs(call('ZRANGEBYSCORE', K.workers, '-inf', '(' .. ARGV[4])) do dead[worker] = true end
end
for worker in pairs(dead) do
  for _, id in ipairs(held_by(worker)) do
    taken[id] = true
    attempts[#attempts + 1] = {1, unpack(attempt_of(id))}
  end
  return_strangers(NAMES.root .. 'strangers:' .. worker, processing_key(worker))
end
if not certain then
  for _, id in ipairs(call('ZRANGEBYSCORE', K.running, '-inf', '(' .. MICROS, 'LIMIT', 0, 1000)) do
    if not read(id) then
      forget(id)
      call('ZREM', K.running, id)
    elseif not taken[id] then
      attempts[#attempts + 1] = {0, unpack(attempt_of(id))}
    end
  end
end
for _, worker in ipairs(call('ZRANGEBYSCORE', K.workers, '-inf', '(' .. ARGV[7])) do
  if #held_by(worker) == 0 then
    call('ZREM', K.workers, worker)
    call('DEL', NAMES.root .. 'worker:' .. worker)
  end
end
local workers = {}
local known = call('ZRANGE', K.workers, 0, -1, 'WITHSCORES')
for at = 1, #known, 2 do
  local process = call('HGET', NAMES.root .. 'worker:' .. known[at], 'process')
  workers[#workers + 1] = {known[at], process or '', known[at + 1]}
end
local nearest = call('ZRANGE', K.running, 0, 0, 'WITHSCORES')
write_counts()
return {attempts, workers, nearest[2] or ''}
