-- straight: one list, nothing held back, jobs that were never tried: nearly always there is nothing to choose, and what
-- is alike for all of them is written once. Whoever meets anything else has changed nothing yet, and leaves it to
-- choosing.
local function only_lane()
  local found = call('ZRANGE', K.lanes, 0, 1)
  return #found == 1 and lane_of(found[1]) or nil
end

-- The jobs whose messages are at a list's claiming end, the next one first; nil if one is not as usual, or if all of
-- them together weigh too much.
local function usual_rows(list, limit, bytes_max)
  local elements, ids, bytes = call('LRANGE', list, -limit, -1), {}, 0
  local many = #elements
  if many == 0 then return nil end
  for at, element in ipairs(elements) do
    local id = own_ticket_of(element)
    if not id then return nil end
    ids[many - at + 1] = id
  end
  prefetch(ids, true)
  for _, id in ipairs(ids) do
    local row = rows[id]
    if not row or row[PLACE] ~= 'ready' or row[TICKET] ~= list or row[TOKEN] ~= '' or row[REST] then return nil end
    bytes = bytes + #(texts[id] or '')
  end
  if bytes > bytes_max then return nil end
  return ids, elements
end
