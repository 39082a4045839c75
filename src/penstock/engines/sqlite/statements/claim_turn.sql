-- claim_turn (sqlite): the tenant served last at a rank.
SELECT tenant_id FROM queue_turns WHERE rank = ?
