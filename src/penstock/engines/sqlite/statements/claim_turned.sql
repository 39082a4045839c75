-- claim_turned (sqlite): remember the tenant served last at a rank; writes nothing where it is the same again.
INSERT INTO queue_turns (rank, tenant_id) VALUES (?, ?)
ON CONFLICT (rank) DO UPDATE SET tenant_id = excluded.tenant_id WHERE tenant_id <> excluded.tenant_id
