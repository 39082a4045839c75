-- document_rename (sqlite): a document is somewhere else now.
UPDATE documents SET identity = :identity, name = :name, updated_at = :now WHERE number = :number
