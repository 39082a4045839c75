-- adopt_known (sqlite): which of these legacy rows were taken over before, and what they were about. Primary key.
SELECT row_id, named FROM json_each(:ids) ids JOIN legacy_rows ON row_id = ids.value
