-- suspects: 1 if a job waits for a worker of its own and may run now. ARGV[4] jobs a tenant may run at once.
-- include: ground
-- include: holding
local limit = tonumber(ARGV[4])
for _, name in ipairs(call('ZRANGE', K.suspects, 0, -1)) do
  local task = see(string.match(name, '^%d+:(.*)$'))
  local full = task and limit > 0 and tonumber(call('HGET', K.tenants, task.tenant) or 0) >= limit
  if task and not full and not is_paused(task) and not waits_for_deletion(task) then return 1 end
end
return 0
