-- Where the program was when something nobody foresaw ended an attempt; of the latest error alone.
ALTER TABLE unified_queue ADD COLUMN error_trace TEXT;
