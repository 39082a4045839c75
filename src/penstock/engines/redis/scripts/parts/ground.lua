-- ground: what every script stands on. KEYS as names.py orders them; ARGV[1] names, packed; ARGV[2] now in seconds;
-- ARGV[3] now as ISO 8601. Times stay the texts they came as: Lua would print them with fourteen digits.
local call = redis.call
local PLACES = {'counts', 'jobs', 'done', 'failed', 'running', 'due', 'waiting', 'tenants', 'lanes', 'ages', 'turns',
  'closed', 'pauses', 'lifted', 'suspects', 'workers', 'batches', 'elements', 'completed', 'dead_letter'}
local K = {}
for place, name in ipairs(PLACES) do K[name] = KEYS[place] end
local NAMES = cmsgpack.unpack(ARGV[1])
-- Lists other programs push to stand behind the fixed keys; each has a rank and the tenant whose turn it takes.
local INBOXES = {}
for place, inbox in ipairs(NAMES.inboxes) do
  INBOXES[place] = {list = KEYS[#PLACES + place], rank = inbox[1], tenant = inbox[2]}
end
local NOW, STAMP = ARGV[2], ARGV[3]
local SEPARATOR = '\31'
local MICROS = string.format('%.0f', tonumber(NOW) * 1000000)

local function task_key(id) return NAMES.root .. 'task:' .. id end
local function hash_key(id) return NAMES.root .. 'job:' .. id end
local function held_key(worker) return NAMES.root .. 'held:' .. worker end
local function processing_key(worker)
  return (string.gsub(NAMES.processing, '%%s', (string.gsub(worker, '%%', '%%%%'))))
end
local function barriers_key(tenant) return NAMES.root .. 'barriers:' .. tenant end
local function waiting_name(task) return task.tenant .. SEPARATOR .. task.key end
local function batch_key(batch) return NAMES.root .. 'batch:' .. batch end

-- What never changes about a task is one field of its hash, so that writing and reading it is cheap; what is as it
-- usually is has no field at all.
local FIXED = string.rep('(.-)' .. SEPARATOR, 9) .. '(.*)'
local function expand(task)
  task.tenant, task.item_type, task.collection, task.key, task.created_at, task.created_us, task.seq, task.generation,
    task.origin, task.subject = string.match(task.fixed, FIXED)
  return task
end

-- Some fields of a task; nil if there is none. `fixed` brings all that never changes.
local USUAL = {retry_count = '0', crashes = '0', delete_first = '0', op = 'ingest', priority = '5', max_retries = '3'}
local function read(id, fields)
  local values = call('HMGET', task_key(id), unpack(fields))
  local task = {id = id}
  for place, name in ipairs(fields) do task[name] = values[place] or USUAL[name] or '' end
  if task.fixed == '' then return nil end
  return expand(task)
end

-- A whole task; a field that is not there is the empty text.
local EMPTY = {__index = function(_, name) return USUAL[name] or '' end}
local function load(id)
  local flat = call('HGETALL', task_key(id))
  if #flat == 0 then return nil end
  local task = setmetatable({}, EMPTY)
  for at = 1, #flat, 2 do task[flat[at]] = flat[at + 1] end
  if task.fixed == '' then return task end
  return expand(task)
end

-- Changes to a task, written and kept in the table that was loaded.
local function change(id, task, ...)
  local pairs_of = {...}
  for at = 1, #pairs_of, 2 do task[pairs_of[at]] = pairs_of[at + 1] end
  call('HSET', task_key(id), ...)
end

-- Counts are gathered and written once a call.
local counted, running, unfinished = {}, {}, {}
local rang = false
local function count(place, by) counted[place] = (counted[place] or 0) + by end
local function run(tenant, by) running[tenant] = (running[tenant] or 0) + by end
local function owe(tenant, generation, by)
  local name = tenant .. SEPARATOR .. generation
  unfinished[name] = (unfinished[name] or 0) + by
end
local function ring() rang = true end

-- Many members for one command; Lua hands over a few thousand at most.
local function gathered(command, key, members)
  for at = 1, #members, 4000 do
    call(command, key, unpack(members, at, math.min(at + 3999, #members)))
  end
end

local function unfinished_key(tenant) return NAMES.root .. 'unfinished:' .. tenant end
local function write_unfinished()
  for name, by in pairs(unfinished) do
    if by ~= 0 then
      local tenant, generation = string.match(name, '^(.*)' .. SEPARATOR .. '(.-)$')
      if call('HINCRBY', unfinished_key(tenant), generation, by) <= 0 then
        call('HDEL', unfinished_key(tenant), generation)
      end
    end
  end
  unfinished = {}
end

-- The last thing a script does.
local function write_counts()
  write_unfinished()
  for place, by in pairs(counted) do
    if by ~= 0 then call('HINCRBY', K.counts, place, by) end
  end
  for tenant, by in pairs(running) do
    if by ~= 0 and call('HINCRBY', K.tenants, tenant, by) <= 0 then call('HDEL', K.tenants, tenant) end
  end
  if rang then call('PUBLISH', NAMES.wake, '') end
end
