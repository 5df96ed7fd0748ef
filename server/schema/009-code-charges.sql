-- additive: nodes of the release before still count in `mails`, which a later file may drop.

-- What an operation was charged, as refund_limits takes it. A right code refunds exactly this.
ALTER TABLE codes ADD COLUMN charges jsonb NOT NULL DEFAULT '[]';
