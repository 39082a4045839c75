-- version_retire (sqlite): the version that was current until now. Index: versions_current.
UPDATE versions SET state = 'gone' WHERE document = :document AND generation_id = :generation AND state = 'current'
RETURNING version_id
