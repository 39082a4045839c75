-- stage_open (sqlite): the unfinished stage of a job on a document. Index: stages_unfinished.
SELECT stage_id, kind, state FROM stages WHERE queue_id = ? AND document = ? AND finished_at IS NULL
