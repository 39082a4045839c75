-- chat_workspace (sqlite): whose a conversation is.
SELECT workspace_id FROM conversations WHERE conversation_id = ?
