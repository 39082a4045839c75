-- pause_list (sqlite): what is held back.
SELECT scope, name, paused_by, paused_at FROM queue_pauses WHERE lifted = 0 ORDER BY paused_at, scope, name
