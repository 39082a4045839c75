-- message_some (sqlite): the first messages, in the order they were written.
SELECT seq, job_json FROM queue_messages ORDER BY seq LIMIT ?
