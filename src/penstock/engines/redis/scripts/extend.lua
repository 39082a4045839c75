-- extend: longer leases for attempts that still hold their jobs. Returns for each what it was told to stop with ('' if
-- nothing), or 0 where the lease was lost. ARGV[4] {id, token, until} each, packed.
-- include: ground
-- include: urgent
local answers = {}
for at, packed in ipairs(cmsgpack.unpack(ARGV[4])) do
  local id, token, upto = packed[1], packed[2], packed[3]
  local seen = call('HMGET', task_key(id), 'place', 'token', 'cancel')
  if seen[1] == 'leased' and seen[2] == token then
    call('HSET', task_key(id), 'until', upto)
    call('ZADD', K.running, upto, id)
    answers[at] = seen[3] or ''
  else
    answers[at] = 0
  end
end
return answers
