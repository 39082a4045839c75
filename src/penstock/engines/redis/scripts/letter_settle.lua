-- letter_settle: a dead letter whose job runs again is removed, and the new job remembered. Returns 1 if it was there.
-- ARGV[4], [5] and own keys as remembering says.
-- include: ground
-- include: remembering
return remember() and 1 or 0
