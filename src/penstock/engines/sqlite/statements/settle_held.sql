-- settle_held (sqlite): which of these attempts still have their token, as JSON: their rows, and their places in :ends,
-- which is [[job id, token], ...]. One text instead of many rows: the driver takes one step. Primary key.
SELECT json_group_array(q.rowid), json_group_array(ends.key), count(*) FROM json_each(:ends) ends
  CROSS JOIN unified_queue q ON q.queue_id = json_extract(ends.value, '$[0]')
    AND q.token = json_extract(ends.value, '$[1]') AND q.status = 'in_progress'
