-- upgrade: what an earlier version counted, told as this one reads it; once is enough, and twice does no harm. Its ready
-- jobs were a number of their own.
-- KEYS[1] counts
local seen = redis.call('HMGET', KEYS[1], 'seq', 'unready', 'ready')
if not seen[3] then return 0 end
redis.call('HINCRBY', KEYS[1], 'unready', string.format('%.0f', tonumber(seen[1] or 0) - tonumber(seen[3])))
redis.call('HDEL', KEYS[1], 'ready')
return 1
