-- message_add (sqlite): an engine outside has to hear of this job.
INSERT INTO queue_messages (job_json) VALUES (?)
