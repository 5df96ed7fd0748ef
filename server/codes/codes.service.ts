import { createHmac, randomBytes } from 'node:crypto'
import { isEmail } from '../../contract/account-rules.ts'
import { CODE_ATTEMPTS } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import { type Db, NO_USER, type Queryable } from '../db/database.ts'
import type { Purpose } from '../db/tables.ts'
import { AppError } from '../http/app-error.ts'
import { emailKey, hasReadableDomain, mailboxOf, withUsualDomain } from '../mail/email-address.ts'
import { nameDevice } from '../mail/mail-words.ts'
import { queueMail } from '../mail/queue-mail.ts'
import { widestNetworkOf } from '../rate-limits/network.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { isSameSecret } from '../start/app-secret.ts'
import { type CodeMail, codeOf } from './codes.mail.ts'
import {
  type Attempt,
  countAttempt,
  markMailed,
  removeOperation,
  removeOperations,
  selectAttempts,
  unclaimMail,
  upsertOperation,
} from './codes.repository.ts'
import { takeGuess, takeMailPlace } from './mail-places.repository.ts'

// Other features call it as it is.
export { removeOperations }

export type Start = {
  purpose: Purpose
  email: string
  /** The user whose e-mail is to change; absent where nobody is signed in. */
  userId?: string
  clientHash: Buffer
  device?: Device
  /** Address of the client that asks. */
  ip: string
  /** Whether this client has signed in with this e-mail before. Such a client has a mail limit of its own. */
  isKnownClient: boolean
}

export type CodesOptions = {
  key: Buffer
  /** For how long a code is valid once the mail server has accepted it. */
  ttlSeconds: number
  limits: Limits
  /** The key that hashes mailboxes and networks for the rate limit of code mails, and the factor of that limit. */
  mailLimit: { key: Buffer; scale: number }
}

/** Throws INVALID_REQUEST for a string that is not an e-mail address. */
export function requireEmail(address: string): void {
  if (!isEmail(address)) {
    throw new AppError('INVALID_REQUEST', { message: 'Введите корректный email' })
  }
}

/**
 * Returns an address that an account may have, with its domain in the usual form. Throws INVALID_REQUEST for a string that is not
 * an address, and for a domain that people would mistake for another.
 */
export function requireNewEmail(address: string): string {
  requireEmail(address)
  if (hasReadableDomain(address)) return withUsualDomain(address)
  throw new AppError('INVALID_REQUEST', {
    message: 'Проверьте адрес после «@»: в нём есть буквы другого алфавита или лишние знаки',
  })
}

const LOCKED = 'Слишком много неверных кодов'
const TOO_MANY_WRONG =
  'Для этой почты сегодня слишком много неверных кодов: войдите с устройства, на котором уже входили'

/** An operation lives so many times as long as its code, because the mail may be under way for a while. */
const LIFE_FACTOR = 2

/**
 * Starts a one-time operation and queues the mail with its code. Returns the operation's id. Starting again before it expires
 * returns the same id, and queues a second mail only 60 s after the last, and only once that is not in the queue any more.
 * Throws TOO_MANY_REQUESTS past the rate limit of mails to the mailbox, and as long as no attempt is left.
 */
export async function startOperation(db: Db, start: Start, options: CodesOptions): Promise<string> {
  const operation = await upsertOperation(db, {
    id: randomBytes(24).toString('base64url'),
    purpose: start.purpose,
    email: start.email,
    emailKey: emailKey(start.email),
    userId: start.userId ?? NO_USER,
    clientHash: start.clientHash,
    device: start.device ?? null,
    lifeSeconds: options.ttlSeconds * LIFE_FACTOR,
  })
  if (operation.lockedFor !== null) {
    throw new AppError('TOO_MANY_REQUESTS', { message: LOCKED, retryAfter: operation.lockedFor })
  }
  if (operation.mailDue) {
    const mail: CodeMail = {
      to: operation.email,
      key: `code ${operation.id}`,
      isUrgent: true,
      purpose: start.purpose,
      operationId: operation.id,
      expiresAt: operation.expiresAt.getTime(),
      device: nameDevice(start.device ?? null),
      askedAt: Date.now(),
    }
    try {
      await chargeMail(db, start, options)
      await queueCodeMail(db, mail)
    } catch (error) {
      const unclaimed = unclaimMail(db, operation.id)
      // Not awaited when the database is unavailable, which would delay the caller as long again. The claim expires by itself.
      if (error instanceof AppError) await unclaimed
      else unclaimed.catch(() => {})
      throw error
    }
  }
  return operation.id
}

/**
 * Queue the mail and mark the operation as guessable in one transaction, so that an operation whose mail was rate-limited can
 * never be guessed.
 */
function queueCodeMail(db: Db, mail: CodeMail): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await queueMail(tx, 'send-code', mail)
    await markMailed(tx, mail.operationId)
  })
}

export type Guess = Omit<Attempt, 'userId'> & {
  userId?: string
  code: string
  /** Address of the client that asks. */
  ip: string
}

/**
 * Counts an attempt at an operation, and then compares the code. Returns the operation's e-mail and device. Throws
 * OPERATION_EXPIRED, MAX_CONFIRM_ATTEMPTS or INVALID_CONFIRM_CODE, and TOO_MANY_REQUESTS past the limits of the network and,
 * unless the client has signed in with it before, of wrong codes for the mailbox.
 */
export async function checkCode(db: Db, guess: Guess, options: CodesOptions) {
  const { key, limits, mailLimit } = options
  const attempt = { ...guess, userId: guess.userId ?? NO_USER }
  // Codes that cannot be right have a limit of their own, so that they do not keep the network's other clients from signing in.
  const attempts = await selectAttempts(db, attempt)
  const canBeRight = attempts !== undefined && attempts < CODE_ATTEMPTS
  await (canBeRight ? limits.codeChecks : limits.unknownCodeChecks).chargeNetwork(guess.ip)
  // On one connection: in a crowd the few guesses that are compared would wait for another one behind all that are not.
  return db.connection().execute(async (connection) => {
    const operation = await countAttempt(connection, attempt)
    if (!operation) throw new AppError('OPERATION_EXPIRED')
    const { attempts, email, device, isKnownClient } = operation
    if (attempts > CODE_ATTEMPTS) throw new AppError('MAX_CONFIRM_ATTEMPTS')
    const isWrong = !isSameSecret(guess.code, codeOf(guess.id, key))
    if (!isKnownClient) {
      const request = { ...hashRequest(email, guess.ip, mailLimit.key), isWrong }
      const retryAfter = await takeGuess(connection, request, mailLimit.scale)
      const message = TOO_MANY_WRONG
      if (retryAfter > 0) throw new AppError('TOO_MANY_REQUESTS', { message, retryAfter })
    }
    if (isWrong) throw new AppError('INVALID_CONFIRM_CODE')
    return { email, device }
  })
}

/**
 * Ends a checked operation, in the transaction of the change that it allows. Throws OPERATION_EXPIRED for all calls but the
 * first.
 */
export async function spendOperation(tx: Queryable, id: string): Promise<void> {
  if (!(await removeOperation(tx, id))) throw new AppError('OPERATION_EXPIRED')
}

/** A client that has signed in with the e-mail before has a limit of its own, which strangers cannot use up. */
async function chargeMail(
  db: Db,
  { email, clientHash, isKnownClient, ip }: Start,
  { limits, mailLimit: { key, scale } }: CodesOptions,
): Promise<void> {
  if (isKnownClient) {
    return limits.codeMails.charge(hashFor(email, key, clientHash).toString('base64url'))
  }
  const retryAfter = await takeMailPlace(db, hashRequest(email, ip, key), scale)
  if (retryAfter > 0) throw new AppError('TOO_MANY_REQUESTS', { retryAfter })
}

/** Returns a mailbox and a network as the limits store them. */
function hashRequest(email: string, ip: string, key: Buffer) {
  return { mailbox: hashFor(email, key), network: hashFor(email, key, widestNetworkOf(ip)) }
}

function hashFor(email: string, key: Buffer, part?: string | Buffer): Buffer {
  const hmac = createHmac('sha256', key).update(mailboxOf(email))
  if (part !== undefined) hmac.update('\n').update(part)
  return hmac.digest()
}
