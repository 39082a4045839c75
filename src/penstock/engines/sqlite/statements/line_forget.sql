-- line_forget (sqlite): it is another one now.
DELETE FROM event_file
