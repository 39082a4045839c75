-- carry_outdated (sqlite): what else there is of a document in a generation. Index: versions_document.
UPDATE versions SET state = 'gone' WHERE document = :document AND generation_id = :generation AND state <> 'gone'
RETURNING version_id
