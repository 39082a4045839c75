-- document_remark (sqlite): what is said of a document that stays as it is.
UPDATE documents SET metadata_json = :metadata, branch = :branch WHERE number = :number
