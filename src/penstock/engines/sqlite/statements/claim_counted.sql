-- claim_counted (sqlite): so many more.
UPDATE queue_claims SET claims = claims + ?
