-- line_jump (sqlite): everybody's numbers go on behind all that could have been given.
UPDATE event_counters SET seq = (seq / 1000000000 + 1) * 1000000000
