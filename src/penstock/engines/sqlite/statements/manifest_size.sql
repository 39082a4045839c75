-- manifest_size (sqlite): how many chunks the current versions of generations in use have. Index: versions_current.
SELECT coalesce(sum(v.chunks), 0) FROM collections c
  CROSS JOIN versions v INDEXED BY versions_current ON v.generation_id IN (c.generation, c.building)
    AND v.state = 'current'
WHERE c.removed_at IS NULL
