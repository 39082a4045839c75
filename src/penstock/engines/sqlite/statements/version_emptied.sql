-- version_emptied (sqlite): an unfinished version of which no chunk is left; its bytes are still needed.
UPDATE versions SET chunks = 0 WHERE version_id = ? AND state = 'building'
