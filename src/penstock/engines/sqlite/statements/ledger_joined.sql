-- ledger_joined (sqlite): which of some ids are those of submits that joined another job. Primary key.
SELECT alias FROM queue_aliases WHERE alias IN (SELECT value FROM json_each(?))
