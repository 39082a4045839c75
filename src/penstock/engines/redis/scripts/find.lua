-- find: jobs by their ids, or by the ids of submits that joined them. Returns what reading says of each, or {}.
-- ARGV[4] ids, packed.
-- include: ground
-- include: reading
local found = {}
for at, id in ipairs(cmsgpack.unpack(ARGV[4])) do found[at] = told(id) or {} end
return found
