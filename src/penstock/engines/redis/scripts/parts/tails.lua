-- tails: what follows created_us in our messages. Most of it is alike in nearly all of them, and an entry, which lies
-- beside its message in every copy of the data, keeps it short: a control character for each piece, which no JSON text
-- has inside. What was kept whole has none, and is what it is. The same pieces stand in tails.py.
local PIECES = {
  ['\1'] = ',"rag_id":"',
  ['\2'] = '","source_path":"',
  ['\3'] = '","source_type":"',
  ['\4'] = '","filename":"',
  ['\5'] = '","submitted_at":"',
  ['\6'] = '","submitted_by":"cli","options":{"reindex":false,"skip_validation":false,"preserve_metadata":true},'
    .. '"retry_count":0,"max_retries":',
  ['\7'] = ',"version":1,"priority":',
  ['\8'] = ',"tenant_id":"',
  ['\11'] = '","item_type":"file","op":"ingest","branch":"main"}',
  ['\14'] = '"}',
}
local function whole_tail(kept) return (string.gsub(kept, '%c', PIECES)) end
