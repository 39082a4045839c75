-- manifest_revision (sqlite): how far the collection is that a generation answers for.
SELECT c.revision FROM generations g JOIN collections c ON c.collection_id = g.collection_id
WHERE g.generation_id = ? AND c.generation = g.generation_id
