-- additive

-- Operations that a right code has completed. For two minutes the browser that lost the answer gets it again, from
-- `outcome`. No backup contains them.
CREATE TABLE redeemed_codes (
  id text PRIMARY KEY,
  purpose text NOT NULL,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  client_hash bytea NOT NULL,
  known_by text,
  outcome jsonb NOT NULL,
  wrong_codes integer NOT NULL,
  redeemed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX redeemed_codes_user ON redeemed_codes (user_id);

-- An undone change has expired. For two minutes its link answers again that it was undone.
ALTER TABLE email_changes ADD undone_at timestamptz;
