"""Legacy queues in SQLite files of other programs: read as they are, marked, and dropped when told to."""
