-- request_find (sqlite): what a user's request of this key was answered. Index: requests_key.
SELECT fingerprint, status, body FROM requests WHERE user_id = :user AND key = :key AND answered_at > :since
