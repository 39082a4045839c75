-- ticket_crowd (sqlite): leave a user the newest :most of his tickets, or of his passes. Index: tickets_user.
DELETE FROM tickets WHERE ticket_hash IN (
  SELECT ticket_hash FROM tickets INDEXED BY tickets_user WHERE user_id = :user AND kind = :kind
  ORDER BY issued_at DESC LIMIT -1 OFFSET :most)
