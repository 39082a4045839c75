-- submit_barrier (sqlite): a waiting tenant deletion now covers everything submitted so far.
UPDATE queue_barriers SET generation = (SELECT generation FROM queue_generations), cleared = 0 WHERE queue_id = :id
