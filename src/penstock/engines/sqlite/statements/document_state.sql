-- document_state (sqlite): a document moves on, and what went wrong before is past.
UPDATE documents SET state = :state, error_stage = NULL, error_code = NULL, error_message = NULL, updated_at = :now
WHERE number = :number AND hidden_at IS NULL
