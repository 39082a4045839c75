-- Jobs whose collection was deleted: `paused = 2` keeps them from being claimed until they are ended, portion by portion.
CREATE INDEX queue_doomed ON unified_queue (paused) WHERE paused = 2;
