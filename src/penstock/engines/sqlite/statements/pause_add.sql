-- pause_add (sqlite): hold a scope back; pausing twice keeps the first.
INSERT INTO queue_pauses (scope, name, paused_by, paused_at) VALUES (?, ?, ?, ?)
ON CONFLICT (scope, name) DO UPDATE SET lifted = 0, paused_by = excluded.paused_by, paused_at = excluded.paused_at
WHERE lifted = 1
