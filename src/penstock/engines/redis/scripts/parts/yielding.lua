-- yielding: lists the pages name. Anybody may have put something else under the name of one: that is no reason to leave
-- the work half done, or to stop it. It steps aside as it is, under a name of its own.
local function make_way(list)
  local kind = redis.call('TYPE', list).ok
  if kind ~= 'list' and kind ~= 'none' then redis.call('RENAME', list, list .. ':not-a-list') end
end

local function push_left(list, ...)
  if type(redis.pcall('LPUSH', list, ...)) == 'number' then return end
  make_way(list)
  redis.call('LPUSH', list, ...)
end

-- nil for what is none.
local function length_of(list)
  local length = redis.pcall('LLEN', list)
  return type(length) == 'number' and length or nil
end
