-- document_busy (sqlite): is something being done with a document? Index: stages_document.
SELECT EXISTS (SELECT 1 FROM stages WHERE document = ? AND finished_at IS NULL)
