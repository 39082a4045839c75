-- lines: of one subject one job at a time, in submit order. `subjects:<tenant>` names the first unfinished job of
-- each subject; the others stand in `line:<tenant>:<subject>`, and the first knows whether anybody does.
local function line_key(task) return NAMES.root .. 'line:' .. task.tenant .. SEPARATOR .. task.subject end

-- A job whose row is gone, deleted by hand or evicted, is over: whoever meets it takes out what is left of it and goes
-- on. Who keeps a book tells it to us again. Where it stood is found by looking, since no row says it.
local forget
local HAS_ENDED = {done = true, failed = true}

-- One of a tenant's unfinished jobs is gone; of which generation it was no longer stands anywhere, so of the first.
local function owe_no_more(tenant)
  write_owed()
  local first = nil
  for generation, many in pairs(unfinished_of(tenant)) do
    if many > 0 and (not first or tonumber(generation) < tonumber(first)) then first = generation end
  end
  if first then owe(tenant, first, -1) end
end

-- The first of its subject has ended: the next goes on.
local function advance(id, task)
  local behind = task.followed ~= '' and call('LPOP', line_key(task))
  while behind and not load(behind) do
    forget(behind, 'behind', {tenant = task.tenant, subject = task.subject, key = ''})
    behind = call('LPOP', line_key(task))
  end
  if not behind then
    leave_subjects(task.tenant, {task.subject})
    return
  end
  call('HSET', subjects_key(task.tenant), task.subject, behind)
  local next_one = load(behind)
  count('behind', -1)
  change(behind, next_one, 'followed', call('EXISTS', line_key(task)) == 1 and '1' or '')
  if next_one.due == '' then
    make_ready(behind, next_one)
  else
    change(behind, next_one, 'place', 'delayed')
    count('delayed', 1)
  end
end

-- Whether a job is one that a subject may be taken by: an id may have come to mean another job since.
local function holds(task, subject) return not HAS_ENDED[task.place] and task.subject == subject end

-- Whoever is named as the first of a subject and is none of its jobs any more makes way for the next.
local function leave_line(id, tenant, subject)
  if call('HGET', subjects_key(tenant), subject) ~= id then return end
  owe_no_more(tenant)
  advance(id, {tenant = tenant, subject = subject, followed = '1'})
end

-- Where it stood, out of which it is taken; nil if it had ended.
local function place_left(id, seq, known)
  if call('ZREM', K.running, id) == 1 then return 'leased' end
  if call('ZREM', K.suspects, string.format('%016d:', seq) .. id) == 1 then return 'suspect' end
  local due = call('ZREM', K.due, id) == 1
  if known and call('LREM', line_key(known), 1, id) == 1 then return 'behind' end
  if due then return 'delayed' end
  local waits = known and (call('HGET', K.waiting, waiting_name(known)) == id
    or call('HGET', subjects_key(known.tenant), known.subject) == id)
  if not waits then return nil end
  for _, where in ipairs({call('HKEYS', K.pauses), call('SMEMBERS', K.lifted)}) do
    for _, pause in ipairs(where) do
      if call('LREM', NAMES.root .. 'aside:' .. pause, 1, id) == 1 then return 'aside' end
    end
  end
  leave_ticket(id)
  return 'ready'
end

-- `met`: where it was met, and has been taken out of; `known`: tenant, key and subject, where its entry may be gone too.
function forget(id, met, known)
  local seq = tonumber(call('ZSCORE', K.jobs, id) or '')
  if not seq then return end
  local entry = entry_for(id)
  if entry then known = {tenant = entry[4], key = entry[7], subject = entry[8]} end
  local place = met or place_left(id, seq, known)
  call('ZREM', K.jobs, id)
  call('ZREM', K.running, id)
  call('ZREM', K.due, id)
  if not put[id] then call('DEL', task_key(id), entry_key(id)) end
  if place and place ~= 'leased' then count(place, -1) end
  if not known then return end
  if place == 'leased' then run(known.tenant, -1) end
  if call('HGET', K.waiting, waiting_name(known)) == id then call('HDEL', K.waiting, waiting_name(known)) end
  if call('ZREM', NAMES.root .. 'barriers:' .. known.tenant, id) == 1 then
    if call('EXISTS', NAMES.root .. 'barriers:' .. known.tenant) == 0 then call('HDEL', K.closed, known.tenant) end
    ring()
  elseif place == 'behind' then
    owe_no_more(known.tenant)
  else
    leave_line(id, known.tenant, known.subject)
  end
end
