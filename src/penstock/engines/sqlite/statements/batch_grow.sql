-- batch_grow (sqlite): so many more children, of which so many had ended before they joined.
UPDATE queue_batches SET total = total + :total, done = done + :done, failed = failed + :failed
WHERE batch_id = :batch AND sealed = 0
