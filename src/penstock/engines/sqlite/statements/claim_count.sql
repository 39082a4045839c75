-- claim_count (sqlite): how many jobs have ever been claimed, for the rule of the longest-waiting one.
SELECT claims FROM queue_claims
