-- browse_holding (sqlite): those of these documents whose metadata holds all that is asked for, compared as a search's
-- filters do (index_documents). By number, one by one.
SELECT d.number FROM json_each(:numbers) n CROSS JOIN documents d ON d.number = n.value
WHERE json_valid(d.metadata_json) AND NOT EXISTS (
  SELECT 1 FROM json_each(:metadata) wanted WHERE NOT EXISTS (
    SELECT 1 FROM json_each(d.metadata_json) held
    WHERE held.key = wanted.key AND (
      (held.value IS wanted.value
        AND (held.type IN ('true', 'false')) = (wanted.type IN ('true', 'false')))
      OR (held.type = 'array' AND wanted.type <> 'array'
        AND EXISTS (SELECT 1 FROM json_each(held.value) one WHERE one.value IS wanted.value)))))
