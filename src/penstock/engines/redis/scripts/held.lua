-- held: the attempts a worker holds, and what must be known to judge them. Returns ATTEMPT each. ARGV[4] worker.
-- include: ground
-- include: attempts
local found = {}
for _, id in ipairs(call('SMEMBERS', held_key(ARGV[4]))) do
  found[#found + 1] = attempt_of(id)
end
return found
