-- stage_remove (sqlite): a document's stages. Index: stages_document.
DELETE FROM stages WHERE document = ?
