-- words_view (sqlite): what the table of words indexes: a generation's own chunks. Generation 0 stands for any.
CREATE VIEW words_0_of AS SELECT c.chunk_id, c.lead, c.text, c.grams
FROM versions v JOIN chunks c ON c.version_id = v.version_id WHERE v.generation_id = substr('words_0', 7)
