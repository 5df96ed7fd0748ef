-- Makes a database of 0.1.0 equal to a new one: each change of 001-schema.sql since then, until 1.0.0 is released.

-- Sessions from before the browser's cookie.
DELETE FROM sessions WHERE browser_hash IS NULL;
ALTER TABLE sessions ALTER browser_hash SET NOT NULL;

CREATE INDEX IF NOT EXISTS posts_search ON posts USING gin (search_words(id, text)) WITH (gin_pending_list_limit = 256)
  WHERE hidden_for IS NULL;
