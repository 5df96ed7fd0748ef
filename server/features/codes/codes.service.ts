import { randomBytes } from 'node:crypto'
import { isEmail } from '../../../contract/account-rules.ts'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import { ERRORS } from '../../../contract/errors.ts'
import type { Device } from '../../../contract/fields.ts'
import { isSameSecret } from '../../kernel/config/app-secret.ts'
import { NO_USER, type Queryable } from '../../kernel/db/database.ts'
import type { KnownBy, Purpose } from '../../kernel/db/tables.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { pluralize, waitInWords } from '../../kernel/errors/words.ts'
import { type Charge, formatWait } from '../../kernel/limits/limits.ts'
import { emailKey, hasReadableDomain, withUsualDomain } from '../../kernel/mail/email-address.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { askerWaitError, hashAsker } from '../site-state/mail-reputation.service.ts'
import {
  CODE_CHECKS,
  chargeMail,
  countTriesLeft,
  hashMailedNetwork,
  mailCharges,
  VAIN_CODE_CHECKS,
  wrongCodeCharge,
} from './code-quota.ts'
import { type CodeMail, deriveCode } from './codes.mail.ts'
import {
  type Attempt,
  addCharges,
  countAttempt,
  endSoon,
  mailKey,
  removeOperation,
  selectGuessable,
  upsertOperation,
} from './codes.repository.ts'
import { forgetMailedNetwork } from './mailed-networks.repository.ts'
import {
  countWrongCode,
  insertRedeemedCode,
  lockRedeemedCode,
  type StoredOutcome,
  selectRedeemedCode,
} from './redeemed-codes.repository.ts'

/** The client that starts an operation. */
export type StartingClient = {
  clientHash: Buffer
  /** What identifies a browser without a cookie until it returns the new one; null with a cookie. */
  networkClientHash: Buffer | null
  /** Returns the hash of the client with the cookie that the start of an operation sets. */
  hashFor: (operationId: string) => Buffer
}

export type OperationStart = {
  purpose: Purpose
  email: string
  userId?: string
  client: StartingClient
  device?: Device
  ip: string
  knownBy: KnownBy
  /** What the request was charged. */
  charges: Charge[]
  isToNewAddress?: boolean
  /** Until when the caller's network gets no codes for new addresses. */
  askerWaitsUntil?: Date | null | undefined
}

export function requireEmail(address: string): void {
  if (!isEmail(address)) {
    throw new AppError('INVALID_REQUEST', { message: 'Введите корректный email' })
  }
}

/** Returns the address with its usual domain. Throws INVALID_REQUEST if the domain is misspelt. */
export function requireNewEmail(address: string): string {
  requireEmail(address)
  if (hasReadableDomain(address)) return withUsualDomain(address)
  throw new AppError('INVALID_REQUEST', {
    message: 'Проверьте адрес после «@»: в нём есть буквы другого алфавита или лишние знаки',
  })
}

export async function requireSendableEmail(email: string, { mail }: ServerContext): Promise<void> {
  if (await mail.canSendTo(email)) return
  throw new AppError('INVALID_REQUEST', {
    message:
      'На адреса, где перед «@» не только латинские буквы, наша почта не доходит. Укажите другой адрес',
  })
}

/** An operation lives twice as long as its code, because its mail takes a while. */
const LIFE_FACTOR = 2

/**
 * Starts a one-time operation, queues the mail with its code and returns its id. A repeated start
 * returns the same id and mails again after 60 s unless a mail waits. `begin` locks the account.
 */
export async function startOperation(
  context: ServerContext,
  begin: (tx: Queryable) => Promise<OperationStart>,
): Promise<string> {
  const lifeSeconds = context.config.codeTtlSeconds * LIFE_FACTOR
  return context.db.transaction().execute(async (tx) => {
    const start = await begin(tx)
    const device = start.device ?? null
    const { purpose, email, userId, client, knownBy } = start
    const id = randomBytes(24).toString('base64url')
    const mailed = { ...start, clientHash: client.clientHash }
    const newOperation = {
      id,
      purpose,
      email,
      email_key: emailKey(email),
      user_id: userId ?? NO_USER,
      client_hash: client.hashFor(id),
      network_client_hash: client.networkClientHash,
      device,
      known_by: knownBy,
      charges: context.limits.toStored([...start.charges, ...mailCharges(mailed)]),
    }
    const operation = await upsertOperation(tx, newOperation, lifeSeconds)
    if (operation.lockedFor !== null) {
      const wait = formatWait(operation.lockedFor)
      const message = `Слишком много неверных кодов: новый — через ${wait}${otherDevice(purpose)}`
      throw new AppError('TOO_MANY_REQUESTS', { message, retryAfter: operation.lockedFor })
    }
    if (operation.mailDue) {
      if (start.isToNewAddress && start.askerWaitsUntil) throw askerWaitError(start.askerWaitsUntil)
      await chargeMail(context, mailed, tx)
      const mail: CodeMail = {
        to: operation.email,
        key: mailKey(operation.id),
        isUrgent: true,
        isToNewAddress: start.isToNewAddress ?? false,
        purpose,
        operationId: operation.id,
        expiresAt: operation.expiresAt.getTime(),
        device: nameDevice(device),
        askedAt: Date.now(),
        asker: hashAsker(start.ip, context),
      }
      await queueMail(tx, 'send-code', mail)
    }
    return operation.id
  })
}

export type Guess = Omit<Attempt, 'userId'> & {
  userId?: string
  code: string
  ip: string
}

type Redemption<Account, Result, Outcome> = {
  /** Locks the account; all transactions lock accounts before their codes and sessions. */
  lock: (tx: Queryable, email: string) => Promise<Account>
  redeem: (
    tx: Queryable,
    operation: { email: string; device: Device | null; account: Account },
  ) => Promise<Result>
  /** What is stored of the result, so that `repeat` can make it again. */
  toStored: (result: Result) => StoredOutcome<Outcome>
  /** Throws OPERATION_EXPIRED if the outcome has been undone since. */
  repeat: (stored: StoredOutcome<Outcome>) => Promise<Result>
}

type CodeResult<Result> = { result: Result; isRepeated: boolean }

/**
 * Redeems a code. If the answer was lost, the same code repeats it for two minutes: `redeem` runs
 * once, however often the right code is sent.
 */
export async function redeemCode<Account, Result, Outcome>(
  context: ServerContext,
  guess: Guess,
  redemption: Redemption<Account, Result, Outcome>,
): Promise<CodeResult<Result>> {
  const attempt = { ...guess, userId: guess.userId ?? NO_USER }
  const operation = await selectGuessable(context.db, attempt)
  const redeemed = operation ? undefined : await selectRedeemedCode(context.db, attempt)
  // Codes that cannot be right have their own limit, so that they block no valid code.
  const canBeRight = operation ? operation.attempts < CODE_ATTEMPTS : redeemed !== undefined
  // A known browser has few codes and tries of its own, so neighbours at its address cannot stop it.
  if (!canBeRight || (operation ?? redeemed)?.knownBy !== 'browser') {
    const limit = canBeRight ? CODE_CHECKS : VAIN_CODE_CHECKS
    await context.limits.charge([{ limit, ip: guess.ip }])
  }
  if (!operation) return repeatAnswer(context, attempt, redemption)
  if (!canBeRight) throw lockedError({ ...guess, ...operation })
  const outcome = await redeemOnce(context, { ...attempt, ...operation }, redemption).catch(
    async (error) => {
      // The same code, sent twice, may have been redeemed meanwhile. A database that fails is not
      // asked again: the caller would wait for a second timeout.
      if (!(error instanceof AppError) || !(await selectRedeemedCode(context.db, attempt)))
        throw error
      return repeatAnswer(context, attempt, redemption)
    },
  )
  // It has been counted, so it is not tried again as a repetition.
  if ('refusal' in outcome) throw outcome.refusal
  return outcome
}

type CheckedGuess = Attempt & Pick<Guess, 'code' | 'ip'>

/**
 * Counts an attempt and compares the code. The right code ends the operation and runs `redeem` in
 * one transaction; if `redeem` throws, the operation stays and the attempt is not counted. Returns
 * the refusal of a wrong code, because an exception would roll back the count.
 */
async function redeemOnce<Account, Result, Outcome>(
  { db, key, limits }: ServerContext,
  { email, device, ...guess }: CheckedGuess & { email: string; device: Device | null },
  { lock, redeem, toStored }: Redemption<Account, Result, Outcome>,
): Promise<CodeResult<Result> | { refusal: AppError }> {
  const { ip } = guess
  return db.transaction().execute(async (tx) => {
    const account = await lock(tx, email)
    const counted = await countAttempt(tx, guess)
    if (counted === undefined) throw new AppError('OPERATION_EXPIRED')
    const { attempts, knownBy, secondsLeft, ...boundTo } = counted
    if (attempts > CODE_ATTEMPTS) throw lockedError({ ...guess, secondsLeft })
    const wrong = wrongCodeCharge({ email, knownBy }, attempts)
    await limits.charge([wrong], tx)
    const ofThisTry = limits.toStored([wrong])
    if (!isSameSecret(guess.code, deriveCode(guess.id, key('codes')))) {
      await addCharges(tx, guess.id, ofThisTry)
      const left = await countTriesLeft(limits, { email, knownBy, attempts }, tx)
      if (left > 0) return { refusal: wrongCodeError(left) }
      const lockedFor = await endSoon(tx, guess.id)
      return { refusal: lastWrongCodeError({ ...guess, secondsLeft: lockedFor }) }
    }
    const charged = await removeOperation(tx, guess.id)
    const result = await redeem(tx, { email, device, account })
    const wrongCodes = attempts - 1
    await insertRedeemedCode(tx, { ...guess, ...boundTo, knownBy, wrongCodes, ...toStored(result) })
    // A right code came from the owner's network, which must not count as a stranger's.
    await forgetMailedNetwork(tx, hashMailedNetwork({ email, ip }, key))
    await limits.refundStored([...charged, ...ofThisTry], tx)
    return { result, isRepeated: false }
  })
}

/** Repeats the answer to a right code. Wrong codes count on, so that the repetition helps no guesser. */
async function repeatAnswer<Account, Result, Outcome>(
  { db, key, limits }: ServerContext,
  guess: CheckedGuess,
  { repeat }: Redemption<Account, Result, Outcome>,
): Promise<CodeResult<Result>> {
  const checked = await db.transaction().execute(async (tx) => {
    const operation = await lockRedeemedCode(tx, guess)
    // Also after the last wrong code: as the operation has ended, another code needs no wait.
    const ended = new AppError('OPERATION_EXPIRED')
    if (!operation || operation.wrongCodes >= CODE_ATTEMPTS) throw ended
    if (isSameSecret(guess.code, deriveCode(guess.id, key('codes')))) return { operation }
    const attempts = operation.wrongCodes + 1
    await countWrongCode(tx, guess.id)
    await limits.tryCharge([wrongCodeCharge(operation, attempts)], tx)
    const left = await countTriesLeft(limits, { ...operation, attempts }, tx)
    return { refusal: left === 0 ? ended : wrongCodeError(left) }
  })
  if ('refusal' in checked) throw checked.refusal
  const { userId, outcome } = checked.operation
  return { result: await repeat({ userId, outcome: outcome as Outcome }), isRepeated: true }
}

type Lock = { purpose: Purpose; secondsLeft: number }

/** Returns the refusal of the last wrong code, with the time until another can be requested. */
function lastWrongCodeError(lock: Lock): AppError {
  const message = `Неверный код, попыток больше нет. ${nextCodeMessage(lock)}`
  return new AppError('INVALID_CONFIRM_CODE', { message, retryAfter: lock.secondsLeft })
}

function wrongCodeError(left: number): AppError {
  const remain = left === 1 ? 'Осталась' : 'Осталось'
  const message = `Неверный код. ${remain} ${pluralize(left, TRIES)}`
  return new AppError('INVALID_CONFIRM_CODE', { message })
}

const TRIES = { one: 'попытка', few: 'попытки', many: 'попыток' }

/** Returns MAX_CONFIRM_ATTEMPTS with the time until another code can be requested. */
export function lockedError(lock: Lock): AppError {
  const message = `${ERRORS.MAX_CONFIRM_ATTEMPTS.message}. ${nextCodeMessage(lock)}`
  return new AppError('MAX_CONFIRM_ATTEMPTS', { message, retryAfter: lock.secondsLeft })
}

function nextCodeMessage({ purpose, secondsLeft }: Lock): string {
  return `Новый можно запросить ${waitInWords(secondsLeft)}${otherDevice(purpose)}`
}

/** The lock of a sign-in binds one browser only; other purposes need this browser's session. */
function otherDevice(purpose: Purpose): string {
  const isSignIn = purpose === 'login' || purpose === 'registration'
  return isSignIn ? '. Войти с другого устройства можно уже сейчас' : ''
}
