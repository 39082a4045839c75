-- ledger_spent (sqlite): a job another program gave the engine comes with retries spent. Index: the primary key.
UPDATE unified_queue SET retry_count = ? WHERE queue_id = ?
