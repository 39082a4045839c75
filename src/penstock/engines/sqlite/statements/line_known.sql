-- line_known (sqlite): the file the numbers were last given in.
SELECT file FROM event_file
