-- workspace_holding (sqlite): how many documents a workspace holds, and their bytes, sent or ingested. Index:
-- documents_held, without touching the table.
SELECT count(*), coalesce(sum(d.bytes), 0)
FROM collections c CROSS JOIN documents d INDEXED BY documents_held ON d.collection_id = c.collection_id
WHERE c.workspace_id = ? AND c.removed_at IS NULL AND d.hidden_at IS NULL
