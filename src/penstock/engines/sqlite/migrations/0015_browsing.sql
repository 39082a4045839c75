-- How people look through documents: a page of any order is a range of its index.
CREATE INDEX documents_created ON documents (collection_id, created_at, document_id) WHERE hidden_at IS NULL;
CREATE INDEX documents_updated ON documents (collection_id, updated_at, document_id) WHERE hidden_at IS NULL;
CREATE INDEX documents_name ON documents (collection_id, name COLLATE NOCASE, document_id) WHERE hidden_at IS NULL;
CREATE INDEX documents_bytes ON documents (collection_id, bytes, document_id) WHERE hidden_at IS NULL;
