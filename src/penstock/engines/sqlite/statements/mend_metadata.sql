-- mend_metadata (sqlite): say the metadata of a document in JSON, if it is still what was read.
UPDATE documents SET metadata_json = :metadata WHERE document_id = :document AND CAST(metadata_json AS BLOB) = :read
