-- collection_sizes_all (sqlite): of each collection of a workspace, chunks and bytes readers can see, their documents, and
-- those built beside them. Indexes: collections_name, versions_current.
SELECT c.collection_id, coalesce(sum(v.chunks), 0), coalesce(sum(v.size), 0), count(v.version_id),
  (SELECT count(*) FROM versions b INDEXED BY versions_current
    WHERE b.generation_id = c.building AND b.state = 'current')
FROM collections c LEFT JOIN versions v INDEXED BY versions_current
  ON v.generation_id = c.generation AND v.state = 'current'
WHERE c.workspace_id = ? AND c.removed_at IS NULL GROUP BY c.collection_id
