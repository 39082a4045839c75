-- attempts: ATTEMPT is {id, place, token, retry_count, max_retries, crashes, parked_since, cancel, started_at, seq}.
local function attempt_of(id)
  local seen = call('HMGET', task_key(id), 'place', 'token', 'retry_count', 'max_retries', 'crashes', 'parked_since',
    'cancel', 'started_at', 'seq')
  local attempt = {id}
  for at = 1, 9 do attempt[at + 1] = seen[at] or '' end
  return attempt
end
