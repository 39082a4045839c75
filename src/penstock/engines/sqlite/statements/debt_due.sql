-- debt_due (sqlite): is any debt due? Index: debts_due.
SELECT EXISTS (SELECT 1 FROM debts WHERE due_at <= ?)
