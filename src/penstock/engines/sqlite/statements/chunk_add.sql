-- chunk_add (sqlite): a chunk; one that is there already stays as it is. Index: chunks_ordinal.
INSERT INTO chunks (version_id, ordinal, span_start, span_end, tokens, page_first, page_last, embedding_id,
  headings_json, lead, text, grams)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (version_id, ordinal) DO NOTHING
