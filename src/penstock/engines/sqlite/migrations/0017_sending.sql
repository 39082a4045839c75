-- Bytes of an upload whose neighbours are still being sent: held without a job, for a while.
ALTER TABLE held_blobs ADD COLUMN until TEXT;
CREATE INDEX held_blobs_until ON held_blobs (until) WHERE until IS NOT NULL;
