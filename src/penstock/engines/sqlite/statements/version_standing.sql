-- version_standing (sqlite): what decides whether a version may be published.
SELECT v.state, v.document, v.generation_id, d.hidden_at IS NOT NULL OR c.removed_at IS NOT NULL,
  v.generation_id IN (c.generation, coalesce(c.building, c.generation)),
  (SELECT count(*) FROM chunks WHERE version_id = v.version_id)
FROM versions v JOIN documents d ON d.number = v.document JOIN collections c ON c.collection_id = d.collection_id
WHERE v.version_id = ?
