-- telling: fields of a documented hash. Anybody may have put something else under its name, a JSON text for one: that is
-- no reason to leave the work half done, and gives way.
local function tell(key, id, ...)
  if type(redis.pcall('HSET', key, ...)) ~= 'table' then return end
  if redis.call('TYPE', key).ok ~= 'hash' then redis.call('DEL', key) end
  redis.call('HSET', key, 'job_id', id, ...)
end
