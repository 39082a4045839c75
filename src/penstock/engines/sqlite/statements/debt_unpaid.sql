-- debt_unpaid (sqlite): is such a debt still there? Index: the one of its UNIQUE.
SELECT EXISTS (SELECT 1 FROM debts WHERE kind = ? AND about = ?)
