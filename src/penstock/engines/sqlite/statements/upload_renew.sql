-- upload_renew (sqlite): so much has come, and more is waited for; no news.
UPDATE uploads SET done = :done, due_at = :due WHERE upload_id = :id AND status = 'uploading'
