-- submit_find (sqlite): is this id taken, by a job or by a submit that joined one? Primary keys.
SELECT queue_id, tenant_id, idempotency_key FROM unified_queue
WHERE queue_id = coalesce((SELECT queue_id FROM queue_aliases WHERE alias = :id), :id)
