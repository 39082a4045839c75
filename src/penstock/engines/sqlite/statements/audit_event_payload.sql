-- audit_event_payload (sqlite): of each user's log the last event whose payload is no JSON object; those before it go with it.
SELECT e.user_id || ':' || max(e.seq), max(e.seq), e.user_id FROM events e
WHERE typeof(e.payload_json) <> 'text'
  OR CASE WHEN json_valid(e.payload_json) THEN json_type(e.payload_json) ELSE '' END <> 'object'
GROUP BY e.user_id LIMIT :limit
