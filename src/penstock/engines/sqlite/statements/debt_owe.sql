-- debt_owe (sqlite): owe it, once.
INSERT INTO debts (kind, about, details_json, due_at, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (kind, about) DO NOTHING
