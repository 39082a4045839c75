-- held: the attempts a worker holds, and what must be known to judge them. Returns ATTEMPT each. ARGV[4] worker.
-- include: ground
-- include: attempts
-- include: holders
local found = {}
for _, id in ipairs(held_by(ARGV[4])) do
  found[#found + 1] = attempt_of(id)
end
return found
