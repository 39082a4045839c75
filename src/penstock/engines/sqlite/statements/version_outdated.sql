-- version_outdated (sqlite): unfinished versions of a document's other bytes, in any generation. Index: versions_building.
UPDATE versions SET state = 'gone' WHERE document = :document AND state = 'building' AND blob <> :blob
RETURNING version_id
