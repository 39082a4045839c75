-- list: jobs newest first, a page of the index a call. Returns {where to go on or '', jobs as reading says}.
-- ARGV[4] where to go on: the number of the last job looked at, or '+inf', or `id:` and a job; ARGV[5] at most so many;
-- ARGV[6] look at no more than so many; ARGV[7] what is wanted: collection, item_type, code, state, '' being any, and tenants
-- as the keys of a table, or nil; ARGV[8] a field that is left out, or ''.
-- include: ground
-- include: reading
local from, limit, pages = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local wanted = cmsgpack.unpack(ARGV[7])
local tenants = wanted.tenants
wanted.tenants = nil
if string.sub(from, 1, 3) == 'id:' then
  local id = string.sub(from, 4)
  id = resolve(id)
  from = call('ZSCORE', K.jobs, id)
  if not from then return {'', {}} end
end

local function state_of(task)
  if task.place == 'done' or task.place == 'failed' or task.place == 'leased' then return task.place end
  return task.due ~= '' and 'delayed' or 'ready'
end

local function is_wanted(id)
  local task = load(id)
  if not task or rawget(task, 'again') or (tenants and not tenants[task.tenant]) then return false end
  for name, value in pairs(wanted) do
    local found = name == 'state' and state_of(task) or task[name]
    if value ~= '' and found ~= value then return false end
  end
  return true
end

local page = call('ZREVRANGEBYSCORE', K.jobs, from == '+inf' and from or '(' .. from, '-inf', 'WITHSCORES',
  'LIMIT', 0, pages)
local found, ids = {}, {}
for at = 1, #page, 2 do ids[#ids + 1] = page[at] end
prefetch(ids)
for at = 1, #page, 2 do
  if is_wanted(page[at]) then found[#found + 1] = told(page[at], ARGV[8]) end
  if #found == limit then return {page[at + 1], found} end
end
return {#page == 2 * pages and page[#page] or '', found}
