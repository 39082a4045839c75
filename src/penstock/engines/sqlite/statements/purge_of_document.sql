-- purge_of_document (sqlite): one of its versions. Index: versions_document.
SELECT version_id, generation_id FROM versions WHERE document = ? LIMIT 1
