-- audit_spans_of (sqlite): where the chunks of a version lie in its text, and what they say. Index: chunks_ordinal.
SELECT span_start, span_end, text FROM chunks WHERE version_id = ? ORDER BY ordinal
