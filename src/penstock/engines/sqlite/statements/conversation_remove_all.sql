-- conversation_remove_all (sqlite): every conversation of a workspace; their messages go with them.
DELETE FROM conversations WHERE workspace_id = ?
