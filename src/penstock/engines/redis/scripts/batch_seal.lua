-- batch_seal: no more children; it may have ended already. Returns its fields, none if it is unknown. ARGV[4] batch. Its
-- own keys: the batches of a parent that are open; this one.
-- include: ground
local key = own_key(2)
if call('HGET', key, 'sealed') == '0' then
  call('HSET', key, 'sealed', '1')
  call('ZREM', own_key(1), ARGV[4])
  local seen = call('HMGET', key, 'total', 'done', 'failed')
  if tonumber(seen[2]) + tonumber(seen[3]) >= tonumber(seen[1]) then
    call('HSET', key, 'ended_at', NOW)
    call('ZADD', K.batches, NOW, ARGV[4])
  end
end
return call('HGETALL', key)
