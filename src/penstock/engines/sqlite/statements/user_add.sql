-- user_add (sqlite): a user nobody knew; one who is known stays as he is.
INSERT INTO users (user_id, created_at) VALUES (:user, :now) ON CONFLICT DO NOTHING
