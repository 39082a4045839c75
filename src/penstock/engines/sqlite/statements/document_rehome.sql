-- document_rehome (sqlite): a document stands in another collection, as the upload of some bytes, still to be built there.
UPDATE documents SET collection_id = :collection, source = 'upload', identity = :identity, name = :name,
  state = 'pending', error_stage = NULL, error_code = NULL, error_message = NULL, mark = NULL, root = NULL,
  updated_at = :now
WHERE number = :number
