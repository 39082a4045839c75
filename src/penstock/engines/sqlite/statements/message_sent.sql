-- message_sent (sqlite): these have been heard.
DELETE FROM queue_messages WHERE seq IN (SELECT value FROM json_each(?))
