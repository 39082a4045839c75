-- chat_renew (sqlite): its owner still writes an answer; what it says so far is kept, and is no news.
UPDATE messages SET due_at = :due, content = :content
WHERE message_id = :message AND owner = :owner AND status IN ('pending', 'running') RETURNING stopping
