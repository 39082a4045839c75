-- adopt_compare (sqlite): what is remembered of legacy rows, beside the jobs that stand for them. Primary keys.
SELECT row_id, legacy_rows.named, taken_at, joined IS NOT NULL, status, op, tenant_id, collection, payload_json,
  retry_count, error_message, updated_at, started_at IS NOT NULL
FROM json_each(:ids) ids JOIN legacy_rows ON row_id = ids.value
LEFT JOIN unified_queue ON queue_id = coalesce(joined, row_id)
