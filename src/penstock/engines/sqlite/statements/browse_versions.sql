-- browse_versions (sqlite): a document's versions that are seen or being built, newest first. Index: versions_document.
SELECT v.version_id, d.document_id, v.generation_id, v.blob, v.state, v.chunks, v.size, v.begun_at, v.published_at
FROM documents d JOIN collections c ON c.collection_id = d.collection_id JOIN versions v ON v.document = d.number
WHERE d.document_id = :document AND d.workspace_id = :workspace AND d.hidden_at IS NULL AND c.removed_at IS NULL
  AND v.state <> 'gone'
ORDER BY v.version_id DESC
