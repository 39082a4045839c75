-- pass_find (sqlite): whom a pass was left for; it stays. Primary key.
SELECT user_id, role, expires_at, proof_expires_at FROM tickets WHERE ticket_hash = :hash AND kind = 'pass'
