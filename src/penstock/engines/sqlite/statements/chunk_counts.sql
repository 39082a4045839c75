-- chunk_counts (sqlite): how many chunks readers can see. Index: versions_current.
SELECT coalesce(sum(v.chunks), 0) FROM collections c JOIN versions v INDEXED BY versions_current
  ON v.generation_id = c.generation AND v.state = 'current'
WHERE c.collection_id = ? AND c.removed_at IS NULL
