-- swap_counts (sqlite): how many documents have a current version in the one generation and in the other. Index:
-- versions_current. A version without its document counts in neither: nobody sees it, and nobody would rebuild it.
SELECT (SELECT count(*) FROM versions v INDEXED BY versions_current JOIN documents d ON d.number = v.document
    WHERE v.generation_id = :old AND v.state = 'current'),
  (SELECT count(*) FROM versions v INDEXED BY versions_current JOIN documents d ON d.number = v.document
    WHERE v.generation_id = :new AND v.state = 'current')
