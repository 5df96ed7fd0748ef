import { createHmac } from 'node:crypto'
import { formatTime } from '../../../contract/dates.ts'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { widestNetworkOf } from '../../kernel/limits/limits.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import type { Asker, MailRefusals } from './mail-reputation.repository.ts'
import {
  countRefusals,
  insertRefusal,
  recordEpisode,
  selectAskerWait,
} from './mail-reputation.repository.ts'

/** The most refused mails that one network may cause in an hour. */
const REFUSED_MAX = 5
/** At this many refusals, from this many networks, mails to new addresses are slowed. */
const SLOWED_FROM = { refused: 20, networks: 10 }

export type MailReputation = MailRefusals & { isSlowed: boolean }

export async function readMailReputation(db: Queryable): Promise<MailReputation> {
  const { refused, networks } = await countRefusals(db)
  const isSlowed = refused >= SLOWED_FROM.refused && networks >= SLOWED_FROM.networks
  return { refused, networks, isSlowed }
}

export function hashAsker(ip: string, { key }: ServerContext): string {
  return createHmac('sha256', key('askers')).update(widestNetworkOf(ip)).digest('base64url')
}

/** Returns a network by its keyed hash, with the refusals that it may have. */
export function askerOf(hash: string, { config }: ServerContext): Asker {
  const most = Math.ceil(REFUSED_MAX * config.rateLimitScale)
  return { networkHash: Buffer.from(hash, 'base64url'), most }
}

/** Returns until when a network gets no codes for new addresses; undefined if it gets codes. */
export async function findAskerWait(db: Queryable, asker: Asker): Promise<Date | undefined> {
  return (await selectAskerWait(db, asker).executeTakeFirst())?.end
}

/** Returns whether a network caused a refused mail within the last hour. */
export function hasRefusal(db: Queryable, { networkHash }: Asker): Promise<boolean> {
  return hasRow(selectAskerWait(db, { networkHash, most: 1 }))
}

export function askerWaitError(until: Date): AppError {
  return new AppError('TOO_MANY_REQUESTS', {
    message: `Из вашей сети слишком часто просят коды на адреса, которых нет. Следующий код на новый адрес — после ${formatTime(until)}`,
    retryAfter: (until.getTime() - Date.now()) / 1000,
  })
}

/** Charges a refused mail to the network that caused it; notifies operators once an episode. */
export async function chargeRefusal(
  tx: Queryable,
  { asker, operators }: { asker: string; operators: readonly string[] },
): Promise<void> {
  await insertRefusal(tx, Buffer.from(asker, 'base64url'))
  const { isSlowed, ...refusals } = await readMailReputation(tx)
  if (!isSlowed || !(await recordEpisode(tx))) return
  for (const to of operators) await queueMail(tx, 'send-refusals-mail', { to, ...refusals })
}
