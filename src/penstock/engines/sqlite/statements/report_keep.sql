-- report_keep (sqlite): what a job found; a later look of the same job counts.
INSERT INTO reports (queue_id, report_json, created_at) VALUES (?, ?, ?)
ON CONFLICT (queue_id) DO UPDATE SET report_json = excluded.report_json, created_at = excluded.created_at
