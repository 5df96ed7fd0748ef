import type { Queryable } from '../../kernel/db/database.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import {
  countNewAddressMails,
  lockRefusals,
  type NewAddressMails,
  pauseRegistrations,
  storeRefusals,
  wereMailsRefused,
} from './mail-name.repository.ts'
import { selectSiteState } from './site-state.repository.ts'

/** Fewer mails say nothing about their sender. */
const LEAST_ENDED = 20
const SLOWED_OVER = 0.2
const CLOSED_OVER = 0.4
const MAIL_LIFE_MS = 86_400_000

function isOver(share: number, { ended, refused }: NewAddressMails): boolean {
  return ended >= LEAST_ENDED && refused > share * ended
}

export type MailName = NewAddressMails & { isSlowed: boolean }

/** Reads how many codes to new addresses were refused, and whether the others are slowed for it. */
export async function readMailName(db: Queryable): Promise<MailName> {
  const mails = await countNewAddressMails(db)
  return { ...mails, isSlowed: mails.isPaused || isOver(SLOWED_OVER, mails) }
}

export async function areNewAddressesSlowed(db: Queryable): Promise<boolean> {
  return (await wereMailsRefused(db)) && (await readMailName(db)).isSlowed
}

/**
 * Judges what a mail that was refused for good adds to: providers block who goes on writing to
 * addresses that do not exist. Too many slow such mails and are told to the operator, once an
 * episode; more close registrations for an hour.
 */
export async function judgeRefusals(tx: Queryable, operators: readonly string[]): Promise<void> {
  const { isTold } = await lockRefusals(tx)
  const mails = await countNewAddressMails(tx)
  if (!isOver(SLOWED_OVER, mails)) return
  await storeRefusals(tx)
  if (isOver(CLOSED_OVER, mails) && !mails.isPaused) await closeForAnHour(tx, mails)
  if (isTold) return
  const expiresAt = Date.now() + MAIL_LIFE_MS
  for (const to of operators) await queueMail(tx, 'send-refusals-mail', { to, expiresAt })
}

async function closeForAnHour(tx: Queryable, { ended, refused }: NewAddressMails): Promise<void> {
  await pauseRegistrations(tx)
  const { registrationsClosed: reason } = await selectSiteState(tx)
  const details = { ended, refused }
  await appendToJournal(tx, { actor: 'vslukh', action: 'registrations.close', reason, details })
}
