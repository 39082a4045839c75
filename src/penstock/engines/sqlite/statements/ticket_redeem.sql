-- ticket_redeem (sqlite): take a ticket away; whoever gets the row is the only one.
DELETE FROM tickets WHERE ticket_hash = :hash
RETURNING user_id, role, expires_at, proof_expires_at
