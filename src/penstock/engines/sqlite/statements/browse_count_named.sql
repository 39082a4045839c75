-- browse_count_named (sqlite): the same of those whose name holds something. Index: documents_name; the table only where
-- a state is asked for.
SELECT count(*) FROM (SELECT 1 FROM documents INDEXED BY documents_name
  WHERE collection_id = :collection AND hidden_at IS NULL AND instr(lower(name), :name_part) > 0
    AND (:state IS NULL OR state = :state) LIMIT :limit)
