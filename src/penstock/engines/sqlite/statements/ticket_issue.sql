-- ticket_issue (sqlite): keep a ticket or pass by its hash.
INSERT INTO tickets (ticket_hash, user_id, kind, role, issued_at, expires_at, proof_expires_at)
VALUES (:hash, :user, :kind, :role, :issued, :expires, :proof_expires)
