-- alias_any (sqlite): has any of these ids joined another job before? Primary key, one look each.
SELECT EXISTS (SELECT 1 FROM json_each(:ids) ids JOIN queue_aliases ON alias = ids.value)
