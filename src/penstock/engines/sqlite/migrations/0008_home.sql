-- By what this database is told from others: what it keeps outside carries this name.

CREATE TABLE home (home_id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
INSERT INTO home VALUES (lower(hex(randomblob(8))));
