-- status: the documented hash of a job, and of every message that joined it. A job that was told again under another id
-- says nothing more: that one speaks for it.
-- include: telling
local function show(id, task, ...)
  if rawget(task, 'again') then return end
  tell(hash_key(id), id, ...)
  if task.aliased ~= '' then
    for _, alias in ipairs(call('SMEMBERS', NAMES.root .. 'aliases:' .. id)) do
      tell(hash_key(alias), alias, ...)
    end
  end
end

local function lasts(id)
  call('EXPIRE', hash_key(id), NAMES.expiry)
  call('SET', hash_key(id) .. ':ttl', STAMP, 'EX', NAMES.expiry)
end

local function duration_of(task)
  if task.started_at == '' then return '' end
  local milliseconds = math.floor(math.max(0, tonumber(NOW) - tonumber(task.started_at)) * 1000 + 0.5)
  return string.format('%.14g', milliseconds / 1000)
end

-- The end of a job: shown, and from now on it expires.
local function show_end(id, task, status, message, family)
  if rawget(task, 'again') then return end
  show(id, task, 'status', status, 'completed_at', status == 'done' and STAMP or '',
    'duration_seconds', duration_of(task), 'error', message, 'error_type', family, 'retry_count', task.retry_count)
  lasts(id)
  if task.aliased ~= '' then
    for _, alias in ipairs(call('SMEMBERS', NAMES.root .. 'aliases:' .. id)) do lasts(alias) end
  end
end
