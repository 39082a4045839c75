-- chunk_last (sqlite): the highest chunk id so far.
SELECT coalesce(max(chunk_id), 0) FROM chunks
