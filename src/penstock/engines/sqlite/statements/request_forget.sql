-- request_forget (sqlite): some answers that are too old to be given again. Index: requests_age.
DELETE FROM requests WHERE number IN (SELECT number FROM requests WHERE answered_at <= :since ORDER BY answered_at LIMIT :limit)
