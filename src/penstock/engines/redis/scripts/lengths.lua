-- lengths: how many messages wait, by rank. Returns {rank, messages, rank, messages, ...}; the rank is -1 for lists that
-- are none of ours: a configuration or a collection of another process, or of another day. Reads lists, never a job.
-- include: ground
-- include: lanes
local seen, waiting = {}, {}
local function measure(rank, list)
  if not seen[list] then
    seen[list] = true
    waiting[rank] = (waiting[rank] or 0) + (length_of(list) or 0)
  end
end
for _, inbox in ipairs(INBOXES) do measure(inbox.rank, inbox.list) end
for _, lane in ipairs(call('ZRANGE', K.lanes, 0, -1)) do
  local inverse, tenant, list = string.match(lane, '^(%d%d)(.-)' .. SEPARATOR .. '(.*)$')
  local rank = 10 - tonumber(inverse)
  measure(list == list_of(rank, tenant) and rank or -1, list)
end
local answer = {}
for rank, messages in pairs(waiting) do
  answer[#answer + 1] = rank
  answer[#answer + 1] = messages
end
return answer
