-- request_crowd (sqlite): a user's oldest answers beyond :most. Index: requests_user.
DELETE FROM requests WHERE number IN (SELECT number FROM requests INDEXED BY requests_user WHERE user_id = :user
  ORDER BY number DESC LIMIT -1 OFFSET :most)
