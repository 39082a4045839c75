-- stage_add (sqlite): a stage; the trigger tells its owner.
INSERT INTO stages (stage_id, kind, document, queue_id, item_type, op, state, retry_count, created_at, updated_at)
VALUES (:id, :kind, :document, :job, :item_type, :op, :state, :retry_count, :now, :now)
