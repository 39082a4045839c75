-- chat_stop_running (sqlite): whoever writes the answer sees at the next renewal that it should end.
UPDATE messages SET stopping = 1 WHERE message_id = :message AND status = 'running'
