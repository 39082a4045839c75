-- let_go: a portion of what lifted pauses had set aside; 1 while there is more.
-- include: ground
-- include: lanes
-- include: lines
-- include: letting
local more = let_go()
write_counts()
return more and 1 or 0
