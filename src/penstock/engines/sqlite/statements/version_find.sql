-- version_find (sqlite): a version, whatever its state.
SELECT v.version_id, d.document_id, v.generation_id, v.blob, v.state, v.chunks
FROM versions v JOIN documents d ON d.number = v.document WHERE v.version_id = ?
