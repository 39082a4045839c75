-- rate.lua: give out places in time to all producers, one after another (T1 to T4 of the rate port).
-- KEYS[1] rate_limit_key: when the next place is free, in microseconds
-- ARGV[1] now  ARGV[2] places  ARGV[3] microseconds a place takes  ARGV[4] slack  ARGV[5] far (all microseconds)
-- returns the microseconds to wait before the places may be used
-- Asked twice for the same places it gives them out twice: slower than wanted, never faster.

local now, slack, far = tonumber(ARGV[1]), tonumber(ARGV[4]), tonumber(ARGV[5])
local took = tonumber(ARGV[2]) * tonumber(ARGV[3])
local free = tonumber(redis.call("GET", KEYS[1]) or "")
-- A value that is no time, or a clock that was set back, must not hold producers up for ever; nor let them all through, as
-- the one would that is no number (it is less than nothing).
if not free or not (free <= now + far) then
  free = now
end
local start = math.max(free, now - slack)
local wait = math.max(0, start - now)
redis.call("SET", KEYS[1], string.format("%.0f", start + took), "PX", string.format("%.0f", (wait + took + far) / 1000))
return math.ceil(wait)
