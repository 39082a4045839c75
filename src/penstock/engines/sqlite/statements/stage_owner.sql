-- stage_owner (sqlite): the job a stage of a workspace's document is a step of.
SELECT s.queue_id FROM stages s JOIN documents d ON d.number = s.document
WHERE s.stage_id = :stage AND d.workspace_id = :workspace
