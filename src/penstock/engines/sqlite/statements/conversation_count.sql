-- conversation_count (sqlite): how many conversations a workspace has, up to a number. Index: conversations_latest.
SELECT count(*) FROM (SELECT 1 FROM conversations WHERE workspace_id = ? LIMIT ?)
