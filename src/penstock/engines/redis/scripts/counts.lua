-- counts: how many jobs are where, the quick way. Returns {1 if something is held back, 2 if everything is; then
-- messages nobody has adopted yet, ready, delayed, behind, aside, suspect, leased, done, failed}; with something held
-- back the caller asks counts_held for the waiting ones. In the lists are ready jobs, tickets that no longer count, and
-- strangers.
-- include: ground
local lists, messages = {}, 0
for _, inbox in ipairs(INBOXES) do lists[inbox.list] = true end
for _, lane in ipairs(call('ZRANGE', K.lanes, 0, -1)) do lists[string.match(lane, SEPARATOR .. '(.*)$')] = true end
for list in pairs(lists) do messages = messages + (length_of(list) or 0) end
local held = (call('EXISTS', K.pauses) == 1 or call('EXISTS', K.closed) == 1) and 1 or 0
if call('HEXISTS', K.pauses, 'all:') == 1 then held = 2 end
local seen = call('HMGET', K.counts, 'seq', 'delayed', 'behind', 'aside', 'suspect', 'stale', 'ended', 'unready')
seen[1] = tonumber(seen[1] or 0) - tonumber(seen[8] or 0)
local strangers = messages - seen[1] - math.max(0, tonumber(seen[6] or 0))
local answer = {held, math.max(0, strangers)}
for at = 1, 5 do answer[at + 2] = tonumber(seen[at] or 0) end
answer[8], answer[10] = call('ZCARD', K.running), call('ZCARD', K.failed)
answer[9] = call('ZCARD', K.done) + tonumber(seen[7] or 0)
return answer
