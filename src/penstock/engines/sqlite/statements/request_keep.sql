-- request_keep (sqlite): an answer, in place of one under the same key that is too old to be given again.
INSERT INTO requests (user_id, key, fingerprint, status, body, answered_at)
VALUES (:user, :key, :fingerprint, :status, :body, :now)
ON CONFLICT (user_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
  body = excluded.body, answered_at = excluded.answered_at
WHERE answered_at <= :since
