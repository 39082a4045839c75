-- conversation_rescope (sqlite): it looks at something else from now on.
UPDATE conversations SET scope_json = :scope WHERE conversation_id = :conversation AND workspace_id = :workspace
