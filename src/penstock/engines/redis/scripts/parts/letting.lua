-- letting: what lifted pauses had set aside goes back to its lanes, a portion a call; true while there is more.
local function let_go()
  for _, pause in ipairs(call('SMEMBERS', K.lifted)) do
    local key = NAMES.root .. 'aside:' .. pause
    for _, id in ipairs(call('LPOP', key, 1000) or {}) do
      local task = load(id)
      count('aside', -1)
      make_ready(id, task)
    end
    if call('EXISTS', key) == 1 then return true end
    call('SREM', K.lifted, pause)
  end
  return false
end
