-- blank: what the documented hash of a job says that nothing has come of yet. What changes most stands first, where it is
-- found soonest.
local function blank_fields(id, collection, filename, submitted_at)
  return 'status', 'queued', 'job_id', id, 'filename', filename, 'started_at', '', 'completed_at', '',
    'duration_seconds', '', 'rag_id', collection, 'submitted_at', submitted_at, 'chunks_created', '0',
    'embeddings_generated', '0', 'tokens_used', '0', 'error', '', 'error_type', '', 'retry_count', '0'
end
