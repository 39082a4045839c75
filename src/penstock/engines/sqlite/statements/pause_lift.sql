-- pause_lift (sqlite): resume; rows it set aside are let go in portions.
UPDATE queue_pauses SET lifted = 1 WHERE scope = ? AND name = ? AND lifted = 0
