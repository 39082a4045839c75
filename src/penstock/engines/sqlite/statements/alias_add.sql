-- alias_add (sqlite): this id stands for that job from now on.
INSERT INTO queue_aliases (alias, queue_id) VALUES (?, ?) ON CONFLICT DO NOTHING
