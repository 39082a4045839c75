-- The ledger's messages: what an engine that orders and leases jobs outside this database has yet to hear of.
-- Written with the job itself; empty where jobs are claimed from the table.
CREATE TABLE queue_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  job_json TEXT NOT NULL
);
