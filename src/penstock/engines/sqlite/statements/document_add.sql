-- document_add (sqlite): a document; the trigger tells its owner.
INSERT INTO documents (document_id, workspace_id, tenant_id, collection_id, source, identity, name, branch,
  metadata_json, bytes, created_at, updated_at)
SELECT :id, workspace_id, :tenant, collection_id, :source, :identity, :name, :branch, :metadata, :bytes, :now, :now
FROM collections WHERE collection_id = :collection AND removed_at IS NULL
