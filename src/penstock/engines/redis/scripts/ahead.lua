-- ahead: how many ready messages come before a job: of higher rank, or of its own and older. Counted up to ARGV[5].
-- ARGV[4] id.
-- include: ground
-- include: lanes
local task = read(ARGV[4])
if not task then return 0 end
local rank = rank_of(task)
local at, seq, limit, number = tonumber(task.created_us), tonumber(task.seq), tonumber(ARGV[5]), 0
for _, name in ipairs(call('ZRANGE', K.lanes, 0, -1)) do
  local inverse, list = string.match(name, '^(%d%d).-' .. SEPARATOR .. '(.*)$')
  local its_rank = 10 - tonumber(inverse)
  if its_rank > rank then
    number = number + call('LLEN', list)
  elseif its_rank == rank then
    for from = 0, limit - number, 100 do
      local page = call('LRANGE', list, -from - 100, -from - 1)
      local younger = false
      for place = #page, 1, -1 do
        local _, its_at, its_seq = ticket_of(page[place])
        younger = its_at and not older(its_at, its_seq, at, seq)
        if younger then break end
        number = number + 1
      end
      if younger or #page < 100 then break end
    end
  end
  if number >= limit then return limit end
end
return number
