-- mend_keys (sqlite): keys lent to rows that never came, as IGNORE leaves them, are given back. A small table.
DELETE FROM queue_lent
