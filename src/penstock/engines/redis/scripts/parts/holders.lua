-- holders: which jobs a worker holds. Not many run at once, and seldom does a worker die or leave: what runs is looked
-- through then, instead of being kept a second time by worker.
local holders = nil
local function held_by(worker)
  if not holders then
    holders = {}
    local ids = call('ZRANGE', K.running, 0, -1)
    prefetch(ids)
    for _, id in ipairs(ids) do
      local task = read(id)
      if task and task.place == 'leased' then
        local held = holders[task.worker] or {}
        holders[task.worker] = held
        held[#held + 1] = id
      end
    end
  end
  return holders[worker] or {}
end
