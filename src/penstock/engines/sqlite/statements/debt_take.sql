-- debt_take (sqlite): due debts, held until :until by this owner. Index: debts_due.
UPDATE debts SET owner = :owner, tries = tries + 1, due_at = :until WHERE debt_id IN (
  SELECT debt_id FROM debts INDEXED BY debts_due WHERE due_at <= :now AND kind IN (SELECT value FROM json_each(:kinds))
  ORDER BY due_at LIMIT :limit)
RETURNING debt_id, kind, about, details_json, tries
