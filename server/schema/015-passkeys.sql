-- additive

-- Keys with which people sign in (https://www.w3.org/TR/webauthn-3/). A removed key is stored while it can come back.
-- `is_synced`: it may be on several devices; `is_backed_up`: it is.
CREATE TABLE passkeys (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  is_synced boolean NOT NULL,
  is_backed_up boolean NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz,
  removed_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- Challenges that a passkey signs, derived from `id`. A new key has a `user_id` from the start, a sign-in once it was
-- redeemed; then `passkey_id` and `session_id` repeat a lost answer for two minutes. No backup contains them.
CREATE TABLE passkey_operations (
  id text PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('add', 'sign-in')),
  user_id bigint REFERENCES users ON DELETE CASCADE,
  client_hash bytea,
  network_client_hash bytea,
  device jsonb,
  expires_at timestamptz NOT NULL,
  redeemed_at timestamptz,
  passkey_id bigint REFERENCES passkeys ON DELETE CASCADE,
  session_id uuid
);
CREATE INDEX passkey_operations_expiry ON passkey_operations (expires_at);
CREATE INDEX passkey_operations_user ON passkey_operations (user_id);
CREATE INDEX passkey_operations_passkey ON passkey_operations (passkey_id);

-- A change of the passkeys can be undone as one of the e-mail; `old_email` is then the address at that time.
ALTER TABLE email_changes ADD passkey_id bigint REFERENCES passkeys ON DELETE CASCADE;
ALTER TABLE email_changes ADD is_removal boolean NOT NULL DEFAULT false;
CREATE INDEX email_changes_passkey ON email_changes (passkey_id);
