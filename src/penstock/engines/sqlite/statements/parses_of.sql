-- parses_of (sqlite): every kept parse of some bytes, the newest first. Index: the primary key.
SELECT blob, parser, result FROM parses WHERE blob = ? ORDER BY kept_at DESC, parser
