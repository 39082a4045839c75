-- pause_lifted (sqlite): resumed pauses whose rows are still set aside.
SELECT scope, name FROM queue_pauses WHERE lifted = 1
