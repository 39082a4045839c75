-- How much a workspace holds is counted while somebody waits for the writer: from an index alone.
CREATE INDEX documents_held ON documents (collection_id, hidden_at, bytes);
