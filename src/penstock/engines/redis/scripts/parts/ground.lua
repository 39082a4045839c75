-- ground: what every script stands on. KEYS as names.py orders them; ARGV[1] names, packed; ARGV[2] now in seconds;
-- ARGV[3] now as ISO 8601. Times stay the texts they came as: Lua would print them with fourteen digits.
local call = redis.call
local PLACES = {'counts', 'jobs', 'done', 'failed', 'running', 'due', 'waiting', 'tenants', 'lanes', 'ages', 'turns',
  'closed', 'pauses', 'lifted', 'suspects', 'workers', 'batches', 'elements', 'ended', 'stale', 'completed', 'dead_letter'}
local K = {}
for place, name in ipairs(PLACES) do K[name] = KEYS[place] end
local NAMES = cmsgpack.unpack(ARGV[1])
-- Lists other programs push to stand behind the fixed keys; each has a rank and the tenant whose turn it takes.
local INBOXES = {}
for place, inbox in ipairs(NAMES.inboxes) do
  INBOXES[place] = {list = KEYS[#PLACES + place], rank = inbox[1], tenant = inbox[2]}
end
-- What only this script is given stands behind all of them.
local function own_key(place) return KEYS[#PLACES + #INBOXES + place] end
local NOW, STAMP = ARGV[2], ARGV[3]
local SEPARATOR = '\31'
-- The generation of jobs no deletion of their tenant came before.
local FIRST = '0'
-- Whole numbers as scores: a small sorted set compares them without reading digits.
local function micros_of(seconds) return string.format('%.0f', tonumber(seconds) * 1000000) end
local MICROS = micros_of(NOW)

local function task_key(id) return NAMES.root .. 'task:' .. id end
local function entry_key(id) return NAMES.root .. 'entry:' .. id end
local function hash_key(id) return NAMES.root .. 'job:' .. id end
local function processing_key(worker)
  return (string.gsub(NAMES.processing, '%%s', (string.gsub(worker, '%%', '%%%%'))))
end
local function barriers_key(tenant) return NAMES.root .. 'barriers:' .. tenant end
local function waiting_name(task) return task.tenant .. SEPARATOR .. task.key end
local function batch_key(batch) return NAMES.root .. 'batch:' .. batch end

-- What is known of a job is two packed texts: its entry, as it was submitted, and its task, what came of it since. Both
-- are read once a script and written once, many together: a field or a command of its own costs several times as much.
-- A task is a row of facts that change, and a table of what few have, if there is any. By name, a fact that is
-- missing is that of the entry, or the usual one, or empty. So the rows of jobs that were submitted, claimed or ended
-- together are one text, and a script that has seen one of them has seen them all.
local FACTS = {'place', 'seq', 'created_at', 'created_us', 'generation', 'ticket', 'token', 'worker', 'until',
  'started_at', 'finished_at'}
local PLACE, GENERATION, TOKEN, WORKER, STARTED_AT, FINISHED_AT, REST = 1, 5, 7, 8, 10, 11, 12
-- Rows of before, which had a copy of what their entry says: read as they are, and written as the others.
local FORMER_FACTS = {'place', 'item_type', 'key', 'tenant', 'subject', 'created_at', 'created_us', 'seq', 'generation',
  'ticket', 'token', 'worker', 'until', 'started_at', 'finished_at'}
local function is_former(row) return #row > REST end
local IS_FACT = {}
for _, name in ipairs(FACTS) do IS_FACT[name] = true end
local USUAL = {retry_count = '0', crashes = '0', delete_first = '0', op = 'ingest', priority = '5', max_retries = '3',
  generation = '0'}
-- A job that was submitted the quick way has no row until something happens to it: its entry says when it came to be, and
-- the list it waits in.
local CREATED_US, LIST = 19, 20
local ENTRY = {item_type = 2, op = 3, tenant = 4, collection = 5, priority = 6, key = 7, subject = 8, payload = 9, body = 10, max_retries = 12, delete_first = 13,
  filename = 14, tail = 16, foreign_element = 17, origin = 18}
local rows, texts, tasks, entries, changed, put = {}, {}, {}, {}, {}, {}

-- include: tails
-- include: yielding
local function element_of(id, seq, created_us, tail)
  return '{"job_id":"' .. id .. '","seq":' .. seq .. ',"created_us":' .. created_us .. whole_tail(tail)
end

local function text_of(id)
  if texts[id] == nil then texts[id] = call('GET', entry_key(id)) end
  return texts[id]
end

local function entry_for(id)
  if entries[id] == nil then
    local text = text_of(id)
    entries[id] = text and cmsgpack.unpack(text)
  end
  return entries[id]
end

local TASK = {__index = function(task, name)
  local place = ENTRY[name]
  if place then
    local entry = entry_for(task.id)
    return entry and entry[place] or USUAL[name] or ''
  end
  -- A job that meets nothing leaves its number where all jobs are numbered.
  if name == 'seq' then
    task.seq = call('ZSCORE', K.jobs, task.id) or nil
    return rawget(task, 'seq') or '0'
  end
  if name == 'created_at' then
    local micros = rawget(task, 'created_us')
    return micros and string.sub(micros, 1, -7) .. '.' .. string.sub(micros, -6) or ''
  end
  if name == 'element' then
    if task.foreign_element ~= '' then return task.foreign_element end
    return element_of(task.id, task.seq, task.created_us, task.tail)
  end
  return USUAL[name] or ''
end}

local function known_as(id, task)
  task.id = id
  tasks[id] = setmetatable(task, TASK)
  return task
end

-- A row whose entry is gone says too little to go on: it is taken for gone as well.
local function task_of(id, row)
  local facts = is_former(row) and FORMER_FACTS or FACTS
  local task = row[#facts + 1] or {}
  if not task.alias and not is_former(row) and not entry_for(id) then return nil end
  for place, name in ipairs(facts) do
    if row[place] ~= '' then task[name] = row[place] end
  end
  return known_as(id, task)
end

local function row_of(task)
  local row, rest = {}, nil
  for place, name in ipairs(FACTS) do row[place] = rawget(task, name) or '' end
  for name, value in pairs(task) do
    if not IS_FACT[name] and name ~= 'id' then
      rest = rest or {}
      rest[name] = value
    end
  end
  row[REST] = rest
  return row
end

local function fetched(keys, ids, into, unpacked)
  for from = 1, #keys, 4000 do
    for at, text in ipairs(call('MGET', unpack(keys, from, math.min(from + 3999, #keys)))) do
      local id = ids[from + at - 1]
      if into[id] == nil then into[id] = text and unpacked and cmsgpack.unpack(text) or text end
    end
  end
end

-- The rows of those that have none because nothing has happened to them: while their name is known to wait.
local function see_untouched(ids)
  local names, whose = {}, {}
  for _, id in ipairs(ids) do
    local entry = not rows[id] and entry_for(id)
    if entry and entry[CREATED_US] then
      whose[#whose + 1] = id
      names[#names + 1] = entry[ENTRY.tenant] .. SEPARATOR .. entry[ENTRY.key]
    end
  end
  for from = 1, #names, 4000 do
    local waits = call('HMGET', K.waiting, unpack(names, from, math.min(from + 3999, #names)))
    for at, held_by in ipairs(waits) do
      local id = whose[from + at - 1]
      local entry = entries[id]
      if held_by == id then
        rows[id] = {'ready', '', '', entry[CREATED_US], FIRST, entry[LIST], '', '', '', '', ''}
      end
    end
  end
end

-- Many rows at once, and the texts of their entries.
local function prefetch(ids)
  local keys = {}
  for at, id in ipairs(ids) do keys[at] = task_key(id) end
  fetched(keys, ids, rows, true)
  for at, id in ipairs(ids) do keys[at] = entry_key(id) end
  fetched(keys, ids, texts)
  see_untouched(ids)
end

-- A task, of an alias too; nil if there is none.
local function load(id)
  local task = tasks[id]
  if task == nil then
    if rows[id] == nil then
      local text = call('GET', task_key(id))
      rows[id] = text and cmsgpack.unpack(text)
      see_untouched({id})
    end
    if not rows[id] then return nil end
    return task_of(id, rows[id])
  end
  return task
end

-- A task that is none of an alias.
local function read(id)
  local task = load(id)
  return task and not rawget(task, 'alias') and task or nil
end

-- The id a job goes by: its own, that of the job it joined, or the one it was told again by.
local function resolve(id)
  local task = load(id)
  local next_id = task and (rawget(task, 'alias') or rawget(task, 'again'))
  while next_id do
    id, task = next_id, load(next_id)
    next_id = task and (rawget(task, 'alias') or rawget(task, 'again'))
  end
  return id
end

-- Changes to a task, kept in the table that was loaded and written at the end.
local function change(id, task, ...)
  local words = {...}
  for at = 1, #words, 2 do
    local name, value = words[at], words[at + 1]
    if value == '' and not ENTRY[name] then value = nil end
    task[name] = value
  end
  changed[id] = task
end

local function put_entry(id, entry, text)
  entries[id] = entry
  texts[id] = text or cmsgpack.pack(entry)
  put[id] = texts[id]
end

local function set_all(words)
  for from = 1, #words, 4000 do call('MSET', unpack(words, from, math.min(from + 3999, #words))) end
end

-- What has a row says there how it stands: without it, it shall not be taken for untouched. What is leased has left its
-- list, and its entry is not written for that alone.
local function write_tasks()
  local words = {}
  for id, task in pairs(changed) do
    local entry = not rawget(task, 'alias') and task.place ~= 'leased' and entry_for(id)
    if entry and entry[CREATED_US] then put_entry(id, {unpack(entry, 1, CREATED_US - 1)}) end
    words[#words + 1] = task_key(id)
    words[#words + 1] = cmsgpack.pack(row_of(task))
  end
  for id, text in pairs(put) do
    words[#words + 1] = entry_key(id)
    words[#words + 1] = text
  end
  set_all(words)
  changed, put = {}, {}
end

-- Counts are gathered and written once a call.
local counted, running, owed = {}, {}, {}
local rang = false
-- Ready are as many jobs as numbers were given out, less those that are not or no more: so whoever takes a number says
-- so by that alone, which saves a submit a command.
local function count(place, by)
  if place == 'ready' then place, by = 'unready', -by end
  counted[place] = (counted[place] or 0) + by
end
-- The last of so many numbers. Nobody who gets one counts as ready by that: where a job comes to stand is counted then,
-- so that a script that breaks off leaves no ready job that is nowhere.
local function take_numbers(many)
  call('HINCRBY', K.counts, 'unready', many)
  return call('HINCRBY', K.counts, 'seq', many)
end
local function run(tenant, by) running[tenant] = (running[tenant] or 0) + by end
local function owe(tenant, generation, by)
  local name = tenant .. SEPARATOR .. generation
  owed[name] = (owed[name] or 0) + by
end
local function ring() rang = true end

-- Many members for one command; Lua hands over a few thousand at most. What it answered, added up.
local function gathered(command, key, members)
  local answered = 0
  for at = 1, #members, 4000 do
    answered = answered + call(command, key, unpack(members, at, math.min(at + 3999, #members)))
  end
  return answered
end

-- How many unfinished jobs a tenant has, by generation. Those of the first one are its taken subjects, which are counted
-- anyway, and so many `beyond` them: that number may be less than nothing.
local function subjects_key(tenant) return NAMES.root .. 'subjects:' .. tenant end
local function beyond_key(tenant) return NAMES.root .. 'beyond:' .. tenant end
local function write_owed()
  for name, by in pairs(owed) do
    if by ~= 0 then
      local tenant, generation = string.match(name, '^(.*)' .. SEPARATOR .. '(.-)$')
      local beyond = call('HINCRBY', beyond_key(tenant), generation, by)
      if beyond == 0 or (beyond < 0 and generation ~= FIRST) then call('HDEL', beyond_key(tenant), generation) end
    end
  end
  owed = {}
end
-- To be asked when nothing is owed that is not written.
local function unfinished_of(tenant)
  local found = {[FIRST] = call('HLEN', subjects_key(tenant))}
  local beyond = call('HGETALL', beyond_key(tenant))
  for at = 1, #beyond, 2 do found[beyond[at]] = (found[beyond[at]] or 0) + tonumber(beyond[at + 1]) end
  return found
end
-- Taking a subject, or leaving it, is no job that comes or goes.
local function take_subject(tenant, subject, id)
  if call('HSETNX', subjects_key(tenant), subject, id) == 0 then return false end
  owe(tenant, FIRST, -1)
  return true
end
local function leave_subjects(tenant, subjects)
  owe(tenant, FIRST, gathered('HDEL', subjects_key(tenant), subjects))
end

-- Where a script has lanes, what returns to them.
local write_returning

-- The last thing a script does.
local function write_counts()
  if write_returning then write_returning() end
  write_tasks()
  write_owed()
  for place, by in pairs(counted) do
    if by ~= 0 then call('HINCRBY', K.counts, place, by) end
  end
  for tenant, by in pairs(running) do
    if by ~= 0 and call('HINCRBY', K.tenants, tenant, by) <= 0 then call('HDEL', K.tenants, tenant) end
  end
  if rang then call('PUBLISH', NAMES.wake, '') end
end
