-- conversation_rename (sqlite): another title; it is no news, so its place in the list stays.
UPDATE conversations SET title = :title WHERE conversation_id = :conversation AND workspace_id = :workspace
