-- mend_version (sqlite): a version nobody can see is gone.
UPDATE versions SET state = 'gone' WHERE version_id = :version AND state <> 'gone'
