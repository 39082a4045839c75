-- submit: accept all of a list of jobs or none. Returns {'ok', id, how, id, how, ...}, or {'batch' or 'taken', which}.
-- ARGV[4] the batch they join, or nothing; ARGV[5] and on, entries, each packed in the order of entry_of.
-- include: ground
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
-- include: accepting
local batch = ARGV[4]
local entries = {}
for at = 5, #ARGV do entries[at - 4] = entry_of(cmsgpack.unpack(ARGV[at]), ARGV[at]) end
local refusal = refusal_of(entries, batch)
if refusal then return refusal end
reserve(#entries)
local answer = {'ok'}
for _, entry in ipairs(entries) do
  local id, how = accept(entry, batch)
  answer[#answer + 1] = id
  answer[#answer + 1] = how
end
write_accepted(batch)
return answer
