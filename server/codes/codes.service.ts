import { createHmac, randomBytes } from 'node:crypto'
import { CODE_ATTEMPTS } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import type { Db, Queryable } from '../db/database.ts'
import { emailKey } from '../db/email-key.ts'
import { AppError } from '../http/app-error.ts'
import { mailboxOf } from '../mail/mailbox-key.ts'
import { addJob } from '../queue/queue.ts'
import { widestNetworkOf } from '../rate-limits/network.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { codeOf, sameCode } from './code.ts'
import type { CodeMail } from './codes.mail.ts'
import {
  type Attempt,
  countAttempt,
  markMailed,
  type Purpose,
  putOperation,
  removeOperation,
  selectAttempts,
  unclaimMail,
} from './codes.repository.ts'
import { takeMailPlace } from './mail-places.repository.ts'

export { endOperations, keepMailState, removeExpiredOperations } from './codes.repository.ts'
export { removeExpiredMailPlaces } from './mail-places.repository.ts'
export { requireEmail, requireNewEmail } from './new-email.ts'

export type Start = {
  purpose: Purpose
  email: string
  /** The user an e-mail change is for; absent where nobody is signed in. */
  userId?: string
  clientHash: Buffer
  device?: Device
  /** Who asks. */
  ip: string
  /** Whether this client has signed in with this e-mail before: it has a place of its own in the mail limit. */
  isKnownClient: boolean
}

export type CodesOptions = {
  key: Buffer
  ttlSeconds: number
  limits: Limits
  /** Under which mailboxes and networks are hashed for the limit on mails, and what multiplies that. */
  mailLimit: { key: Buffer; scale: number }
}

const NOBODY = '0'

/**
 * Starts a one-time operation and queues the mail with its code; starting again while it lives gives the same id, and
 * a second mail only 60 s after the last. Throws TOO_MANY_REQUESTS past the mail limits of the mailbox.
 */
export async function startOperation(db: Db, start: Start, options: CodesOptions): Promise<string> {
  const operation = await putOperation(db, {
    id: randomBytes(24).toString('base64url'),
    purpose: start.purpose,
    email: start.email,
    emailKey: emailKey(start.email),
    userId: start.userId ?? NOBODY,
    clientHash: start.clientHash,
    device: start.device ?? null,
    ttlSeconds: options.ttlSeconds,
  })
  if (operation.mailDue) {
    const mail: CodeMail = {
      to: operation.email,
      purpose: start.purpose,
      operationId: operation.id,
      expiresAt: operation.expiresAt.getTime(),
    }
    try {
      await chargeMail(db, start, options)
      await queueMail(db, mail)
    } catch (error) {
      const unclaimed = unclaimMail(db, operation.id)
      // A database that is away would keep the caller as long again: there the claim passes by itself.
      if (error instanceof AppError) await unclaimed
      else unclaimed.catch(() => {})
      throw error
    }
  }
  return operation.id
}

/** Only what is mailed can be guessed: starts beside one that the limit refuses must not lend it to guesses. */
function queueMail(db: Db, mail: CodeMail): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await addJob(tx, 'send-code', { payload: mail })
    await markMailed(tx, mail.operationId)
  })
}

export type Guess = Omit<Attempt, 'userId'> & {
  userId?: string
  code: string
  /** Who asks. */
  ip: string
}

/**
 * Compares a code with its operation's; the attempt is counted first. Returns the operation's e-mail and device. Throws
 * OPERATION_EXPIRED, MAX_CONFIRM_ATTEMPTS or INVALID_CONFIRM_CODE, and TOO_MANY_REQUESTS past the network's limit.
 */
export async function checkCode(db: Db, guess: Guess, { key, limits }: CodesOptions) {
  const attempt = { ...guess, userId: guess.userId ?? NOBODY }
  // What cannot be right has a limit of its own: a neighbour's junk must not keep others from entering their codes.
  const attempts = await selectAttempts(db, attempt)
  const canBeRight = attempts !== undefined && attempts < CODE_ATTEMPTS
  await (canBeRight ? limits.codeChecks : limits.unknownCodeChecks).chargeNetwork(guess.ip)
  const operation = await countAttempt(db, attempt)
  if (!operation) throw new AppError('OPERATION_EXPIRED')
  if (operation.attempts > CODE_ATTEMPTS) throw new AppError('MAX_CONFIRM_ATTEMPTS')
  if (!sameCode(guess.code, codeOf(guess.id, key))) throw new AppError('INVALID_CONFIRM_CODE')
  return { email: operation.email, device: operation.device }
}

/** Ends a checked operation, in the transaction of what it allows; throws OPERATION_EXPIRED for all but the first. */
export async function spendOperation(tx: Queryable, id: string): Promise<void> {
  if (!(await removeOperation(tx, id))) throw new AppError('OPERATION_EXPIRED')
}

/** A client that has signed in with the e-mail before has places of its own: strangers cannot use them up. */
async function chargeMail(
  db: Db,
  { email, clientHash, isKnownClient, ip }: Start,
  { limits, mailLimit: { key, scale } }: CodesOptions,
): Promise<void> {
  const hash = (...parts: (string | Buffer)[]) => {
    const hmac = createHmac('sha256', key).update(mailboxOf(email))
    for (const part of parts) hmac.update('\n').update(part)
    return hmac.digest()
  }
  if (isKnownClient) return limits.codeMails.charge(hash(clientHash).toString('base64url'))
  const retryAfter = await takeMailPlace(
    db,
    { mailbox: hash(), network: hash(widestNetworkOf(ip)) },
    scale,
  )
  if (retryAfter > 0) throw new AppError('TOO_MANY_REQUESTS', { retryAfter })
}
