-- held_find (sqlite): the bytes a job brought, while it has not ended.
SELECT blob FROM held_blobs WHERE queue_id = ?
