-- strangers: messages a worker took and could not adopt go back to the claiming end of the list they came from. `key` names
-- them, `held` is its processing list.
local function return_strangers(key, held)
  local flat = call('HGETALL', key)
  for at = 1, #flat, 2 do
    local list = string.match(flat[at + 1], '^(.*)' .. SEPARATOR .. '%d+$')
    call('LREM', held, -1, flat[at])
    make_way(list)
    call('RPUSH', list, flat[at])
    ring()
  end
  call('DEL', key)
  return #flat / 2
end
