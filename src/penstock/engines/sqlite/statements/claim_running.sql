-- claim_running (sqlite): jobs running per tenant; only asked when there is a limit. Index: idx_unified_queue_worker.
SELECT tenant_id, count(*) FROM unified_queue INDEXED BY idx_unified_queue_worker
WHERE status = 'in_progress' GROUP BY tenant_id
