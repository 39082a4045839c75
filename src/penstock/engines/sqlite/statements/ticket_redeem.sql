-- ticket_redeem (sqlite): take a ticket away; whoever gets the row is the only one. A pass is none. Primary key.
DELETE FROM tickets WHERE ticket_hash = :hash AND kind = 'ticket'
RETURNING user_id, role, expires_at, proof_expires_at
