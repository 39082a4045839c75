-- ticket_issue (sqlite): keep a ticket by its hash.
INSERT INTO tickets (ticket_hash, user_id, role, expires_at, proof_expires_at)
VALUES (:hash, :user, :role, :expires, :proof_expires)
