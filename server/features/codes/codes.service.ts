import { randomBytes } from 'node:crypto'
import { isEmail } from '../../../contract/account-rules.ts'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import type { Device } from '../../../contract/fields.ts'
import { isSameSecret } from '../../kernel/config/app-secret.ts'
import { type Db, NO_USER, type Queryable } from '../../kernel/db/database.ts'
import type { Purpose } from '../../kernel/db/tables.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { awaitUndo, type Charged, chargeAll, type Limits } from '../../kernel/limits/rate-limits.ts'
import {
  emailKey,
  hasReadableDomain,
  mailboxOf,
  withUsualDomain,
} from '../../kernel/mail/email-address.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { chargeCodeMail, chargeGuess } from './code-quota.ts'
import { type CodeMail, codeOf } from './codes.mail.ts'
import {
  type Attempt,
  countAttempt,
  markMailed,
  removeOperation,
  selectOperation,
  unclaimMail,
  upsertOperation,
} from './codes.repository.ts'

export type Start = {
  purpose: Purpose
  email: string
  userId?: string
  clientHash: Buffer
  device?: Device
  ip: string
  /** Whether this client has signed in with this e-mail before: it has a mail limit of its own. */
  isKnownClient: boolean
  /** Whether no account has this e-mail. */
  isToNewAddress?: boolean
}

export type CodesOptions = {
  key: Buffer
  /** For how long a code is valid once the mail server has accepted it. */
  ttlSeconds: number
  limits: Limits
}

export function requireEmail(address: string): void {
  if (!isEmail(address)) {
    throw new AppError('INVALID_REQUEST', { message: 'Введите корректный email' })
  }
}

/** Throws INVALID_REQUEST, also for a domain that people would mistake for another. */
export function requireNewEmail(address: string): string {
  requireEmail(address)
  if (hasReadableDomain(address)) return withUsualDomain(address)
  throw new AppError('INVALID_REQUEST', {
    message: 'Проверьте адрес после «@»: в нём есть буквы другого алфавита или лишние знаки',
  })
}

const LOCKED = 'Слишком много неверных кодов'

/** An operation lives so many times as long as its code, because its mail takes a while. */
const LIFE_FACTOR = 2

/**
 * Starts a one-time operation and queues the mail with its code. Returns the operation's id: the
 * same when it is started again, with a second mail only 60 s after the last. Throws
 * TOO_MANY_REQUESTS past the limits, and as long as no attempt is left.
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
      isToNewAddress: start.isToNewAddress ?? false,
      purpose: start.purpose,
      operationId: operation.id,
      expiresAt: operation.expiresAt.getTime(),
      device: nameDevice(start.device ?? null),
      askedAt: Date.now(),
    }
    let charged: Charged | undefined
    try {
      charged = await chargeStart(start, operation, options)
      await queueCodeMail(db, mail)
    } catch (error) {
      // A claim that cannot be undone expires.
      await awaitUndo(Promise.all([unclaimMail(db, operation.id), charged?.refund()]), error)
      throw error
    }
  }
  return operation.id
}

/** One transaction, so that an operation whose mail was refused by a limit can never be guessed. */
function queueCodeMail(db: Db, mail: CodeMail): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await queueMail(tx, 'send-code', mail)
    await markMailed(tx, mail.operationId)
  })
}

export type Guess = Omit<Attempt, 'userId'> & {
  userId?: string
  code: string
  ip: string
}

/** Counts an attempt before it compares the code. */
export async function checkCode(db: Db, guess: Guess, { key, limits }: CodesOptions) {
  const attempt = { ...guess, userId: guess.userId ?? NO_USER }
  // Codes that cannot be right have a limit of their own, which keeps nobody else out.
  const operation = await selectOperation(db, attempt)
  const canBeRight = operation !== undefined && operation.attempts < CODE_ATTEMPTS
  await (canBeRight ? limits.codeChecks : limits.unknownCodeChecks).chargeNetwork(guess.ip)
  if (!operation) throw new AppError('OPERATION_EXPIRED')
  const { email, device, isKnownClient } = operation
  if (!canBeRight) throw new AppError('MAX_CONFIRM_ATTEMPTS')
  const charged = isKnownClient ? undefined : await chargeGuess(limits, { email, ip: guess.ip })
  const attempts = await countAttempt(db, attempt)
  const isCompared = attempts !== undefined && attempts <= CODE_ATTEMPTS
  if (isCompared && !isSameSecret(guess.code, codeOf(guess.id, key))) {
    throw new AppError('INVALID_CONFIRM_CODE')
  }
  charged?.refund().catch(() => {})
  if (!isCompared) throw new AppError(attempts ? 'MAX_CONFIRM_ATTEMPTS' : 'OPERATION_EXPIRED')
  return { email, device }
}

/** Ends a checked operation. Throws OPERATION_EXPIRED for all calls but the first. */
export async function spendOperation(tx: Queryable, id: string): Promise<void> {
  if (!(await removeOperation(tx, id))) throw new AppError('OPERATION_EXPIRED')
}

/** A known client has a limit of its own, which strangers cannot use up. */
function chargeStart(
  { email, clientHash, isKnownClient, ip }: Start,
  { isMailed }: { isMailed: boolean },
  { limits }: CodesOptions,
): Promise<Charged> {
  const client = `${mailboxOf(email)}\n${clientHash.toString('base64url')}`
  return isKnownClient
    ? chargeAll([[limits.knownClientMails, client]])
    : chargeCodeMail(limits, { email, ip, isMailed })
}
