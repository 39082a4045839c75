-- adopt: strangers' messages become jobs, or go to the dead letter with the reason. Returns for each {what became of it,
-- its id or ''}: '' a job, the code it was refused with, or '-' if it was no longer ours to adopt. ARGV[4] packed,
-- for each: {letter or '', id or '', family, reason, entry, retries spent, and if there is a letter its code and what
-- the message told, each or '': {collection, file name, when it was submitted}};
-- ARGV[5] and on, the messages themselves. Its own keys: the form of accepting, the worker's processing list, and the
-- messages it has taken and not yet adopted.
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
-- include: accepting
local processing, key = own_key(2), own_key(3)
local answers, accepted = {}, {}

local function let_go_of(element)
  call('HDEL', key, element)
  call('LREM', processing, -1, element)
end

local function refuse(id, letter, family, reason, told)
  push_left(K.dead_letter, letter)
  if id ~= '' and not load(id) then
    fill_form(hash_key(id), id, told[1])
    call('HSET', hash_key(id), 'status', 'failed', 'filename', told[2], 'error', reason, 'error_type', family)
    if told[3] ~= '' then call('HSET', hash_key(id), 'submitted_at', told[3]) end
    lasts(id)
  end
end

for at, packed in ipairs(cmsgpack.unpack(ARGV[4])) do
  local element, letter = ARGV[4 + at], packed[1]
  local origin = call('HGET', key, element)
  answers[at] = {'-', ''}
  if origin then
    answers[at] = {letter ~= '' and packed[7] or '', packed[2]}
    if letter ~= '' then
      refuse(packed[2], letter, packed[3], packed[4], packed[8])
      let_go_of(element)
    else
      local entry = entry_of(packed[5])
      local list, seen = string.match(origin, '^(.*)' .. SEPARATOR .. '(%d+)$')
      entry.element, entry.origin = element, list
      packed[5][17], packed[5][18] = element, list
      entry.created = string.format('%.6f', tonumber(seen) / 1000000)
      if refusal_of({entry}, '') then
        answers[at] = {'ERR_JOB_ID_TAKEN', entry.id}
        bury(element, 'ERR_JOB_ID_TAKEN', 'job id ' .. entry.id .. ' belongs to another job', list)
        let_go_of(element)
      else
        accepted[#accepted + 1] = element
        local id, how = accept(entry, '')
        if how == 'created' and packed[6] ~= '0' then
          change(id, load(id), 'retry_count', packed[6])
          tell(hash_key(id), id, 'retry_count', packed[6])
        end
      end
    end
  end
end
write_accepted('')
-- Only now: a script that breaks off leaves its messages to the next claim.
for _, element in ipairs(accepted) do let_go_of(element) end
return answers
