-- mend_events (sqlite): forget some of a user's events up to one that is no JSON object, oldest first; none where it is one,
-- or gone. Numbers are never given again. Primary key.
DELETE FROM events WHERE (user_id, seq) IN (
  SELECT e.user_id, e.seq FROM events e
  WHERE e.user_id = :user AND e.seq <= :seq AND EXISTS (
    SELECT 1 FROM events torn WHERE torn.user_id = :user AND torn.seq = :seq AND (typeof(torn.payload_json) <> 'text'
      OR CASE WHEN json_valid(torn.payload_json) THEN json_type(torn.payload_json) ELSE '' END <> 'object'))
  ORDER BY e.seq LIMIT :limit)
