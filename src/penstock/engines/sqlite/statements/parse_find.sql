-- parse_find (sqlite): a kept parse.
SELECT blob, parser, result FROM parses WHERE blob = ? AND parser = ?
