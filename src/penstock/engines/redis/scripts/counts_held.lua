-- counts_held: where waiting jobs really stand while something is held back; looks at a page of them a call.
-- Returns {cursor, ready, delayed, behind or barred, paused, suspects}. ARGV[4] cursor.
-- include: ground
-- include: holding
local page = call('HSCAN', K.waiting, ARGV[4], 'COUNT', 1000)
local ids = {}
for at = 2, #page[2], 2 do ids[#ids + 1] = page[2][at] end
prefetch(ids)
local sums = {ready = 0, delayed = 0, behind = 0, aside = 0, suspect = 0}
for at = 2, #page[2], 2 do
  local task = see(page[2][at])
  if task then
    local place = task.place
    if place == 'ready' or place == 'suspect' then
      if is_paused(task) then place = 'aside' elseif waits_for_deletion(task) then place = 'behind' end
    end
    if sums[place] then sums[place] = sums[place] + 1 end
  end
end
return {page[1], sums.ready, sums.delayed, sums.behind, sums.aside, sums.suspect}
