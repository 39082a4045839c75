-- ticket_crowd (sqlite): leave a user the newest :most of his tickets. Index: tickets_user.
DELETE FROM tickets WHERE ticket_hash IN (
  SELECT ticket_hash FROM tickets INDEXED BY tickets_user WHERE user_id = :user
  ORDER BY expires_at DESC LIMIT -1 OFFSET :most)
