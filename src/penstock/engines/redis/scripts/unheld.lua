-- unheld: which of these jobs neither wait nor run here: unknown, or ended. Returns their ids. ARGV[4] ids, packed.
-- include: ground
local ids, found = cmsgpack.unpack(ARGV[4]), {}
prefetch(ids)
for _, id in ipairs(ids) do
  local task = load(resolve(id))
  if not task or task.place == 'done' or task.place == 'failed' then found[#found + 1] = id end
end
return found
