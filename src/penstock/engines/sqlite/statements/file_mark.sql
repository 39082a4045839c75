-- file_mark (sqlite): how the file of an ingested document looked. By its id.
SELECT mark FROM documents WHERE document_id = ? AND hidden_at IS NULL AND state = 'ingested'
