-- parse_forget (sqlite): forget kept parses whose result lies under this blob. Index: parses_result.
DELETE FROM parses WHERE result = ?
