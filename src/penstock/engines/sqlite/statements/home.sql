-- home (sqlite): by what this database is told from others.
SELECT home_id FROM home
