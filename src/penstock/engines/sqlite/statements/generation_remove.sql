-- generation_remove (sqlite): a generation nothing is left of.
DELETE FROM generations WHERE generation_id = ?
