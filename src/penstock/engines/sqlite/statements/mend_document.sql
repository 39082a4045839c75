-- mend_document (sqlite): a document of no collection is deleted; the trigger takes its versions with it.
UPDATE documents SET hidden_at = :now, updated_at = :now WHERE document_id = :document AND hidden_at IS NULL
