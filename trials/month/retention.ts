import { limitRowsKept } from '../../server/testing/privacy-page.ts'

/** A promise of docs/privacy.md: the condition for rows of a table that must be gone. */
type Bound = {
  table: string
  what: string
  /** SQL for a row that is past its time by more than `slack`, an interval. */
  isLate: (slack: string) => string
}

const older = (table: string, column: string, than: string, what: string): Bound => ({
  table,
  what,
  isLate: (slack) => `${column} < now() - interval '${than}' - ${slack}`,
})

const past = (table: string, column: string, what: string): Bound => ({
  table,
  what,
  isLate: (slack) => `${column} < now() - ${slack}`,
})

/** Rows that stay as long as an account or for good, by the same page: nothing of them gets late. */
export const UNBOUNDED = [
  ...['reserved_usernames', 'likes', 'owner_totals', 'answer_states', 'mentions'],
  ...['muted_replies', 'moderators', 'journal', 'passkeys'],
]

const ENDED_MAIL = `state IN ('sent', 'refused', 'expired') AND payload IS NOT NULL`

export const BOUNDS: Bound[] = [
  older('users', 'deleted_at', '14 days', 'accounts 14 days after their deletion'),
  {
    table: 'users',
    what: 'networks of registrations after 30 days',
    isLate: (slack) =>
      `network_hash IS NOT NULL AND created_at < now() - interval '30 days' - ${slack}`,
  },
  older('released_usernames', 'released_at', '30 days', 'former names after 30 days'),
  past('email_changes', 'expires_at', 'changes of e-mails after 3 days'),
  older(
    'email_changes',
    'undone_at',
    '1 hour',
    'changes of e-mails an hour after they were undone',
  ),
  older('sessions', 'used_at', '30 days', 'sessions unused for 30 days'),
  older('sessions', 'created_at', '90 days', 'sessions after 90 days'),
  older('closed_sessions', 'closed_at', '90 days', 'closed sessions after 90 days'),
  older('known_clients', 'used_at', '180 days', 'known browsers after 180 days'),
  older('codes', 'expires_at', '1 hour', 'codes an hour after they expire'),
  older('redeemed_codes', 'redeemed_at', '62 minutes', 'redeemed codes after an hour'),
  older('passkey_operations', 'expires_at', '1 hour', 'passkey operations after an hour'),
  {
    table: 'outbox',
    what: 'contents of mails after 3 days',
    isLate: (slack) => `payload IS NOT NULL AND queued_at < now() - interval '3 days' - ${slack}`,
  },
  { table: 'outbox', what: 'contents of mails that were sent', isLate: () => ENDED_MAIL },
  older('outbox', 'at', '14 days', 'mails after 14 days'),
  older('mail_refusals', 'at', '1 hour', 'refusals of mails after an hour'),
  older('mailed_networks', 'mailed_at', '30 days', 'mailed networks after 30 days'),
  past('rate_limits', 'arrival', 'limits that are free again'),
  ...limitBounds(),
  past('posts', 'hidden_until', 'hidden posts past their time'),
  older('idempotency_keys', 'created_at', '1 day', 'idempotency keys after a day'),
  older('reports', 'created_at', '180 days', 'reports after 180 days'),
  older('appeals', 'created_at', '180 days', 'appeals after 180 days'),
  past('mutes', 'until', 'mutes past their end'),
  past('blocks', 'until', 'blocks past their end'),
  past('blocked_mailboxes', 'until', 'blocked mailboxes past their end'),
  past('bans', 'until', 'bans past their end'),
  past('invitations', 'expires_at', 'invitations past their end'),
  older('access_journal', 'at', '1 day', 'addresses after ACCESS_JOURNAL_DAYS'),
]

/** The page says for each limit how long its rows stay at most. */
function limitBounds(): Bound[] {
  const { named, other } = limitRowsKept()
  const ofName = `split_part(key, '/', 1)`
  const others = [...named.keys()].map((name) => `'${name}'`).join(', ')
  const bound = (which: string, seconds: number, what: string): Bound => ({
    table: 'rate_limits',
    what,
    isLate: (slack) => `${which} AND charged_at < now() - interval '${seconds} seconds' - ${slack}`,
  })
  return [
    bound(`${ofName} NOT IN (${others})`, other, 'limits after their time'),
    ...[...named].map(([name, seconds]) =>
      bound(`${ofName} = '${name}'`, seconds, `the limit ${name} after its time`),
    ),
  ]
}
