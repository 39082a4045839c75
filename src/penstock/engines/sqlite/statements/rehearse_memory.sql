-- rehearse_memory (sqlite): what would wait by now; stands in a nameless database of the rehearsal, never in the queue's.
CREATE TABLE seen (named TEXT PRIMARY KEY) WITHOUT ROWID
