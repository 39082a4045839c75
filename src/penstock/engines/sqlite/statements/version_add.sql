-- version_add (sqlite): a version to build; its id.
INSERT INTO versions (document, generation_id, blob, size, begun_at)
VALUES (:document, :generation, :blob, :size, :now) RETURNING version_id
