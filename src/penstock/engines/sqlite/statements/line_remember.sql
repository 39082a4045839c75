-- line_remember (sqlite): the file the numbers are given in.
INSERT INTO event_file (file) VALUES (?)
