-- index_state (sqlite): the first and the last change that is still told.
SELECT coalesce(min(change_id), 1), coalesce(max(change_id), 0) FROM index_changes
