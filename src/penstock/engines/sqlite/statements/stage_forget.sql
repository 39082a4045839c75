-- stage_forget (sqlite): a document keeps its latest stages only. Index: stages_document.
DELETE FROM stages WHERE number IN (SELECT number FROM stages WHERE document = ? AND finished_at IS NOT NULL
  ORDER BY number DESC LIMIT -1 OFFSET 50)
