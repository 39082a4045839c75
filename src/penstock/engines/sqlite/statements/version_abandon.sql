-- version_abandon (sqlite): no version of a document is seen or finished any more. Index: versions_document.
UPDATE versions SET state = 'gone' WHERE document = ? AND state <> 'gone' RETURNING version_id
