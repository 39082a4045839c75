-- attempts: ATTEMPT is {id, place, token, retry_count, max_retries, crashes, parked_since, cancel, started_at, seq,
-- worker}.
local function attempt_of(id)
  local task = read(id)
  if not task then return {id, '', '', '', '', '', '', '', '', '', ''} end
  return {id, task.place, task.token, task.retry_count, task.max_retries, task.crashes, task.parked_since, task.cancel,
    task.started_at, task.seq, task.worker}
end
