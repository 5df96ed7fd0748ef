import { createHmac } from 'node:crypto'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { KnownBy } from '../../kernel/db/tables.ts'
import {
  type Charge,
  type Limit,
  type Limits,
  widestNetworkOf,
} from '../../kernel/limits/limits.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { recordMailedNetwork } from './mailed-networks.repository.ts'

const MINUTE = 60
const HOUR = 3600

const CODE_REQUESTS: Limit = {
  name: 'code-request',
  rates: [
    [10, MINUTE],
    [60, HOUR],
  ],
  refusal: 'Из вашей сети запросили много кодов: следующий — через {time}',
  isShared: true,
}

export const CODE_CHECKS: Limit = {
  name: 'code-check',
  rates: [
    [20, MINUTE],
    [100, HOUR],
  ],
  refusal: 'Из вашей сети проверили много кодов: следующий — через {time}',
  isShared: true,
}

export const VAIN_CODE_CHECKS: Limit = { ...CODE_CHECKS, name: 'vain-code-check' }

/** At most six mails in any hour: five at once, then one every half hour. */
const CODE_MAILS: Limit = {
  name: 'code-mail',
  rates: [
    [1, MINUTE],
    [5, 5 * 30 * MINUTE],
  ],
  refusal: 'Код на эту почту уже отправляли: следующий — через {time}',
  isShared: true,
}

/** At most thirty mails in any day: 18 at once, then one every two hours. */
const CODE_MAILS_OF_DAY: Limit = { ...CODE_MAILS, rates: [[18, 18 * 2 * HOUR]] }

/** Allows two tries of every code of CODE_MAILS_OF_DAY, besides all later tries. */
const WRONG_CODES: Limit = {
  name: 'wrong-code',
  rates: [[72, 72 * HOUR]],
  refusal:
    'Для этой почты слишком много неверных кодов: войдите с устройства, на котором уже входили, или повторите через {time}',
  isShared: true,
}

/** The same limit for all known browsers together, and for all known networks together. */
const KNOWN_WRONG_CODES: Limit = {
  name: 'known-wrong-code',
  rates: [[40, 40 * 3 * HOUR]],
  refusal: 'Для этой почты слишком много неверных кодов: повторите через {time}',
  isShared: true,
}

/**
 * The shares of a mailbox's mails for networks that were mailed within 30 days. The rest is kept
 * for other networks, so that each of them can delay the owner once in 30 days.
 */
const SHARES_OF_MAILED = { hour: 4 / 5, day: 6 / 18 }
const WHOLE = { hour: 1, day: 1 }
/** The first tries of each code may use all of WRONG_CODES, later tries only half of it. */
const SURE_TRIES = 2
const SHARE_OF_LATER_TRIES = 1 / 2

export type MailRequest = { email: string; ip: string; clientHash: Buffer; knownBy: KnownBy }

/** Returns the charge of a request for a code, which a right code refunds. */
export function requestCharge(ip: string): Charge {
  return { limit: CODE_REQUESTS, ip }
}

/**
 * Charges a code mail. Strangers share the limit of the mailbox, in any spelling; each known
 * browser and network has its own limit, so that strangers cannot use it up. Records the network,
 * unless the browser is known.
 */
export async function chargeMail(
  { limits, key }: Pick<ServerContext, 'limits' | 'key'>,
  request: MailRequest,
  tx: Queryable,
): Promise<void> {
  const isBrowserKnown = request.knownBy === 'browser'
  const wasMailed =
    !isBrowserKnown && (await recordMailedNetwork(tx, hashMailedNetwork(request, key)))
  await limits.charge(mailCharges(request, { wasMailed }), tx)
}

/** Returns the charges of a mail. `wasMailed` is whether its network was mailed within 30 days. */
export function mailCharges(
  { email, ip, clientHash, knownBy }: MailRequest,
  { wasMailed = false } = {},
): Charge[] {
  const mailbox = mailboxOf(email)
  const keys = {
    browser: `${mailbox}\n${clientHash.toString('base64url')}`,
    network: networkKey({ email, ip }),
  }
  const key = knownBy ? keys[knownBy] : mailbox
  const { hour, day } = wasMailed && !knownBy ? SHARES_OF_MAILED : WHOLE
  return [
    { limit: CODE_MAILS, key, share: hour },
    { limit: CODE_MAILS_OF_DAY, key, share: day },
  ]
}

/** Returns the charge for a code that is wrong at its nth try. */
export function wrongCodeCharge(
  { email, knownBy }: Pick<MailRequest, 'email' | 'knownBy'>,
  n: number,
) {
  const mailbox = mailboxOf(email)
  const counted = knownBy
    ? { limit: KNOWN_WRONG_CODES, key: `${mailbox}\n${knownBy}` }
    : { limit: WRONG_CODES, key: mailbox }
  return { ...counted, share: n <= SURE_TRIES ? 1 : SHARE_OF_LATER_TRIES }
}

/** Returns how many more tries the operation and the limit of wrong codes allow. */
export async function countTriesLeft(
  limits: Limits,
  { attempts, ...operation }: Pick<MailRequest, 'email' | 'knownBy'> & { attempts: number },
  tx: Queryable,
): Promise<number> {
  const next = Array.from({ length: CODE_ATTEMPTS - attempts }, (_, n) => attempts + 1 + n)
  const charges = next.map((n) => wrongCodeCharge(operation, n))
  const left = await limits.countLeft(charges, tx)
  return left.reduce((tries, may) => (may > tries ? tries + 1 : tries), 0)
}

/** Returns the keyed hash by which a network that had a mailbox mailed is recorded. */
export function hashMailedNetwork(
  request: Pick<MailRequest, 'email' | 'ip'>,
  key: ServerContext['key'],
): Buffer {
  return createHmac('sha256', key('limits')).update(networkKey(request)).digest()
}

function networkKey({ email, ip }: { email: string; ip: string }): string {
  return `${mailboxOf(email)}\n${widestNetworkOf(ip)}`
}
