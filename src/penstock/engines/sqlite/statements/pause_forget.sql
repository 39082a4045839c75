-- pause_forget (sqlite): nothing is set aside for it any more.
DELETE FROM queue_pauses WHERE scope = ? AND name = ? AND lifted = 1
