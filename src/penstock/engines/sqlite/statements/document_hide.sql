-- document_hide (sqlite): take a document out of every answer; the trigger takes its versions with it.
UPDATE documents SET hidden_at = :now, updated_at = :now WHERE number = :number AND hidden_at IS NULL
