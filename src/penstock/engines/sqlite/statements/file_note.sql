-- file_note (sqlite): how a document's file looked, and where it was found; what is not told stays.
UPDATE documents SET mark = coalesce(:mark, mark), root = coalesce(:root, root) WHERE document_id = :document
