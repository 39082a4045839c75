-- extend: longer leases for attempts that still hold their jobs. Returns for each what it was told to stop with ('' if
-- nothing), or 0 where the lease was lost. ARGV[4] {id, token, until} each, packed.
-- include: ground
-- include: urgent
local answers, ids, ends = {}, {}, {}
local asked = cmsgpack.unpack(ARGV[4])
for at, packed in ipairs(asked) do ids[at] = packed[1] end
prefetch(ids)
for at, packed in ipairs(asked) do
  local id, token, upto = packed[1], packed[2], packed[3]
  local task = load(id)
  if task and task.place == 'leased' and task.token == token then
    change(id, task, 'until', upto)
    ends[#ends + 1] = micros_of(upto)
    ends[#ends + 1] = id
    answers[at] = task.cancel
  else
    answers[at] = 0
  end
end
gathered('ZADD', K.running, ends)
write_tasks()
return answers
