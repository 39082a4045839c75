-- barrier_open (sqlite): tenant deletions that still wait for what came before them.
SELECT queue_id, tenant_id, generation FROM queue_barriers WHERE cleared = 0
