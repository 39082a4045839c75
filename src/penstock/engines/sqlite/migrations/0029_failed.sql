-- Documents in error are taken by their code without meeting the others.
CREATE INDEX documents_failed ON documents (collection_id, error_code, identity, number)
WHERE state = 'error' AND hidden_at IS NULL;
