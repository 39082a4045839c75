-- chat_finish (sqlite): an answer is written. An owner who came too late changes nothing, nor one whose workspace is removed.
UPDATE messages SET status = 'done', content = :content, citations_json = :citations, usage_json = :usage,
  metadata_json = :metadata, error_code = NULL, error_message = NULL, owner = NULL, due_at = '', stopping = 0, updated_at = :now
WHERE message_id = :message AND owner = :owner AND status = 'running'
  AND EXISTS (SELECT 1 FROM conversations c
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
  WHERE c.conversation_id = messages.conversation_id AND w.removed_at IS NULL)
