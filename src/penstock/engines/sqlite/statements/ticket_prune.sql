-- ticket_prune (sqlite): remove tickets whose time is over, the oldest first. Index: tickets_age.
DELETE FROM tickets WHERE ticket_hash IN (
  SELECT ticket_hash FROM tickets INDEXED BY tickets_age WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)
