-- held_add (sqlite): the bytes a job brought stay until it has ended; those still being sent, for a while.
INSERT INTO held_blobs (queue_id, blob, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
