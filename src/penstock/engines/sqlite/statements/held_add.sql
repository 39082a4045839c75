-- held_add (sqlite): the bytes a job brought stay until it has ended.
INSERT INTO held_blobs (queue_id, blob) VALUES (?, ?) ON CONFLICT DO NOTHING
