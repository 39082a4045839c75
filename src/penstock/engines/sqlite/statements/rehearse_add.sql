-- rehearse_add (sqlite): one more would wait; nothing is inserted if one like it does already.
INSERT INTO seen (named) VALUES (?) ON CONFLICT DO NOTHING
