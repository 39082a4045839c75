-- letting: what lifted pauses had set aside goes back to its lanes, a portion a call; true while there is more.
-- The youngest first: each portion finds nothing older at the claiming end, and they end up in order without moving.
local function let_go()
  for _, pause in ipairs(call('SMEMBERS', K.lifted)) do
    local key = NAMES.root .. 'aside:' .. pause
    local ids = call('RPOP', key, 1000) or {}
    prefetch(ids)
    for _, id in ipairs(ids) do
      local task = load(id)
      if task then
        count('aside', -1)
        make_ready(id, task)
      else
        forget(id, 'aside')
      end
    end
    if call('EXISTS', key) == 1 then return true end
    call('SREM', K.lifted, pause)
  end
  return false
end
