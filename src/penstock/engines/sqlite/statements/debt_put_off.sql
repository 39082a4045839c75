-- debt_put_off (sqlite): it could not be paid now. An owner who came too late changes nothing.
UPDATE debts SET due_at = :due, owner = NULL, reason = :reason WHERE debt_id = :id AND tries = :tries
