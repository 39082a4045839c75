-- words_there (sqlite): is there a table of words?
SELECT 1 FROM sqlite_schema WHERE name = 'words_0'
