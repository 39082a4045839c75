-- audit_owed (sqlite): what is owed, by kind.
SELECT kind, count(*), min(created_at), max(tries), coalesce(max(reason), '') FROM debts GROUP BY kind ORDER BY kind
