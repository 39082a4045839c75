-- counts: how many jobs are where, the quick way. Returns {1 if something is held back, then ready, delayed, behind,
-- aside, suspect, leased, done, failed}; with something held back the caller asks counts_held for the waiting ones.
-- include: ground
local held = (call('EXISTS', K.pauses) == 1 or call('EXISTS', K.closed) == 1) and 1 or 0
local seen = call('HMGET', K.counts, 'ready', 'delayed', 'behind', 'aside', 'suspect')
local answer = {held}
for at = 1, 5 do answer[at + 1] = tonumber(seen[at] or 0) end
answer[7], answer[8], answer[9] = call('ZCARD', K.running), call('ZCARD', K.done), call('ZCARD', K.failed)
return answer
