-- carry_chunks (sqlite): the chunks of a version once more, for another. Index: chunks_ordinal.
INSERT INTO chunks (version_id, ordinal, span_start, span_end, tokens, page_first, page_last, embedding_id,
  headings_json, lead, text, grams)
SELECT :new, ordinal, span_start, span_end, tokens, page_first, page_last, embedding_id, headings_json, lead, text, grams
FROM chunks WHERE version_id = :old ORDER BY ordinal
