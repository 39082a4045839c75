-- version_tokens (sqlite): how many tokens the chunks of a version hold. Index: chunks_ordinal.
SELECT coalesce(sum(tokens), 0) FROM chunks WHERE version_id = ?
