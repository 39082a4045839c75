-- adopt: strangers' messages become jobs, or go to the dead letter with the reason. Returns how many were still ours
-- to adopt. ARGV[4] worker; ARGV[5] packed, for each: {letter or '', id or '', family, reason, entry, retries
-- spent}; ARGV[6] and on, the messages themselves.
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
-- include: accepting
local key = NAMES.root .. 'strangers:' .. ARGV[4]
local adopted = 0

local function refuse(id, letter, family, reason)
  call('LPUSH', K.dead_letter, letter)
  if id ~= '' and not load(id) then
    fill_form(hash_key(id), '')
    call('HSET', hash_key(id), 'job_id', id, 'status', 'failed', 'error', reason, 'error_type', family)
    lasts(id)
  end
end

for at, packed in ipairs(cmsgpack.unpack(ARGV[5])) do
  local element, letter = ARGV[5 + at], packed[1]
  local origin = call('HGET', key, element)
  if origin then
    adopted = adopted + 1
    call('HDEL', key, element)
    call('LREM', processing_key(ARGV[4]), -1, element)
    if letter ~= '' then
      refuse(packed[2], letter, packed[3], packed[4])
    else
      local entry = entry_of(packed[5])
      local list, seen = string.match(origin, '^(.*)' .. SEPARATOR .. '(%d+)$')
      entry.element, entry.origin = element, list
      packed[5][17], packed[5][18] = element, list
      entry.created = string.format('%.6f', tonumber(seen) / 1000000)
      if refusal_of({entry}, '') then
        bury(element, 'ERR_JOB_ID_TAKEN', 'job id ' .. entry.id .. ' belongs to another job')
      else
        local id, how = accept(entry, '')
        if how == 'created' and packed[6] ~= '0' then
          change(id, load(id), 'retry_count', packed[6])
          call('HSET', hash_key(id), 'retry_count', packed[6])
        end
      end
    end
  end
end
write_accepted('')
return adopted
