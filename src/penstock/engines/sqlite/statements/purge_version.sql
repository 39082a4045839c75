-- purge_version (sqlite): a version's generation and state.
SELECT v.generation_id, v.state FROM versions v WHERE v.version_id = ?
