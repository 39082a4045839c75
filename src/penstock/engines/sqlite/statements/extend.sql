-- extend (sqlite): a longer lease for an attempt that still holds its job; whether it was told to
-- stop, as text also where somebody wrote bytes.
UPDATE unified_queue SET lease_until = ? WHERE queue_id = ? AND token = ? AND status = 'in_progress'
RETURNING CAST(cancel_code AS TEXT)
