-- claim_park (sqlite): a row met while its collection or type is paused steps aside, so it is met only once.
UPDATE unified_queue SET paused = 1 WHERE rowid = ?
