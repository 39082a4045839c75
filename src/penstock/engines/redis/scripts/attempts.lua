-- attempts: what must be known of jobs to judge how their attempts end; ARGV[4] ids, packed. Returns ATTEMPT each.
-- include: ground
-- include: attempts
local found = {}
for at, id in ipairs(cmsgpack.unpack(ARGV[4])) do found[at] = attempt_of(id) end
return found
