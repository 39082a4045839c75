-- debt_paid (sqlite): it is done.
DELETE FROM debts WHERE debt_id = ?
