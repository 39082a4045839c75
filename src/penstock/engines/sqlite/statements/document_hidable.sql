-- document_hidable (sqlite): some documents of a tenant that are not hidden. Index: documents_tenant.
SELECT document_id FROM documents WHERE tenant_id = ? AND hidden_at IS NULL LIMIT ?
