-- Conversations and their messages; the owner of an answer and when it is due stand in the message itself.
--
-- As elsewhere the table keeps the rules: a new message and a new status are events of the workspace's owner, whoever
-- changes the row. An unfinished answer without a due time counts as due, so a row written by hand is not pending for ever.

CREATE TABLE conversations (
  conversation_id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
  title TEXT NOT NULL DEFAULT '' CHECK (length(title) <= 200),
  scope_json TEXT NOT NULL DEFAULT '{"collections":[],"documents":[]}'
    CHECK (json_valid(scope_json) AND json_type(scope_json) = 'object'),
  messages INTEGER NOT NULL DEFAULT 0,  -- the number of the last one
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX conversations_latest ON conversations (workspace_id, updated_at, conversation_id);

CREATE TABLE messages (
  message_id TEXT PRIMARY KEY NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id),
  number INTEGER NOT NULL CHECK (number > 0),
  key TEXT,                             -- by which whoever asked knows the question again
  role TEXT NOT NULL CHECK (role IN ('user', 'ai')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'done', 'error')),
  content TEXT NOT NULL DEFAULT '' CHECK (length(content) <= 200000),
  citations_json TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(citations_json) AND json_type(citations_json) = 'array'),
  usage_json TEXT CHECK (usage_json IS NULL OR json_valid(usage_json)),
  metadata_json TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata_json) AND json_type(metadata_json) = 'object'),
  error_code TEXT,
  error_message TEXT,
  reply_to TEXT,                        -- the question an answer is to
  owner TEXT,                           -- who writes it
  due_at TEXT NOT NULL DEFAULT '',      -- when nobody does any more
  stopping INTEGER NOT NULL DEFAULT 0,  -- somebody wants it to end
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_number ON messages (conversation_id, number);
CREATE UNIQUE INDEX messages_key ON messages (conversation_id, key) WHERE key IS NOT NULL;
CREATE INDEX messages_reply ON messages (reply_to, number) WHERE reply_to IS NOT NULL;
CREATE INDEX messages_due ON messages (due_at) WHERE status IN ('pending', 'running');

CREATE TRIGGER message_created AFTER INSERT ON messages
BEGIN
  UPDATE conversations SET messages = max(messages, NEW.number), updated_at = NEW.created_at
  WHERE conversation_id = NEW.conversation_id;
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT c.workspace_id, NEW.created_at, 'message.created', json_object('workspace_id', c.workspace_id,
    'conversation_id', NEW.conversation_id, 'message', json_object('id', NEW.message_id, 'number', NEW.number,
      'role', NEW.role, 'status', NEW.status, 'content', NEW.content, 'citations', json(NEW.citations_json),
      'usage', json(NEW.usage_json), 'metadata', json(NEW.metadata_json), 'error_code', NEW.error_code,
      'error_message', NEW.error_message, 'reply_to', NEW.reply_to, 'created_at', NEW.created_at,
      'updated_at', NEW.updated_at))
  FROM conversations c WHERE c.conversation_id = NEW.conversation_id;
END;
-- An ended answer's event carries all there is to show, so that nobody has to ask for it.
CREATE TRIGGER message_moved_on AFTER UPDATE OF status ON messages
WHEN NEW.status <> OLD.status
BEGIN
  UPDATE conversations SET updated_at = NEW.updated_at WHERE conversation_id = NEW.conversation_id;
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT c.workspace_id, NEW.updated_at, 'message.status_updated', json_object('workspace_id', c.workspace_id,
    'conversation_id', NEW.conversation_id, 'message_id', NEW.message_id, 'status', NEW.status,
    'content', CASE WHEN NEW.status IN ('done', 'error') THEN NEW.content END,
    'citations', CASE WHEN NEW.status IN ('done', 'error') THEN json(NEW.citations_json) END,
    'usage', CASE WHEN NEW.status IN ('done', 'error') THEN json(NEW.usage_json) END,
    'metadata', CASE WHEN NEW.status IN ('done', 'error') THEN json(NEW.metadata_json) END,
    'error_code', NEW.error_code, 'error_message', NEW.error_message)
  FROM conversations c WHERE c.conversation_id = NEW.conversation_id;
END;
CREATE TRIGGER conversation_removed AFTER DELETE ON conversations
BEGIN
  DELETE FROM messages WHERE conversation_id = OLD.conversation_id;
END;
