-- claim_closed (sqlite): tenants under deletion.
SELECT DISTINCT tenant_id FROM queue_barriers
