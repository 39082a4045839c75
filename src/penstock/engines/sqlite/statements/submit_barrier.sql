-- submit_barrier (sqlite): a waiting tenant deletion now covers everything submitted so far.
UPDATE queue_barriers SET upto = (SELECT max(rowid) + 1 FROM unified_queue), cleared = 0 WHERE queue_id = :id
