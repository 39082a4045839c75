-- submit_hindered (sqlite): is any tenant under deletion, or any key lent in vain? Two small tables.
SELECT EXISTS (SELECT 1 FROM queue_barriers) OR EXISTS (SELECT 1 FROM queue_lent)
