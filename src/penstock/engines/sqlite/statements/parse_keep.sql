-- parse_keep (sqlite): remember a parse by its bytes and parser.
INSERT INTO parses (blob, parser, result, kept_at) VALUES (?, ?, ?, ?)
ON CONFLICT (blob, parser) DO UPDATE SET result = excluded.result, kept_at = excluded.kept_at
