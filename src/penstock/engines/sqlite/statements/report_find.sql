-- report_find (sqlite): what a job found.
SELECT report_json FROM reports WHERE queue_id = ?
