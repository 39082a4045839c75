-- lengths: how many messages wait, by rank. Returns {rank, messages, rank, messages, ...}; reads lists, never a job.
-- include: ground
local seen, waiting = {}, {}
local function measure(rank, list)
  if not seen[list] then
    seen[list] = true
    waiting[rank] = (waiting[rank] or 0) + call('LLEN', list)
  end
end
for _, inbox in ipairs(INBOXES) do measure(inbox.rank, inbox.list) end
for _, lane in ipairs(call('ZRANGE', K.lanes, 0, -1)) do
  measure(10 - tonumber(string.sub(lane, 1, 2)), string.match(lane, SEPARATOR .. '(.*)$'))
end
local answer = {}
for rank, messages in pairs(waiting) do
  answer[#answer + 1] = rank
  answer[#answer + 1] = messages
end
return answer
