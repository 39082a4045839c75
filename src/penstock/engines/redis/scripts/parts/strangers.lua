-- strangers: messages a worker took and could not adopt go back to the claiming end of the list they came from.
local function return_strangers(worker)
  local key = NAMES.root .. 'strangers:' .. worker
  local flat = call('HGETALL', key)
  for at = 1, #flat, 2 do
    local list = string.match(flat[at + 1], '^(.*)' .. SEPARATOR .. '%d+$')
    call('LREM', processing_key(worker), -1, flat[at])
    call('RPUSH', list, flat[at])
    ring()
  end
  call('DEL', key)
  return #flat / 2
end
