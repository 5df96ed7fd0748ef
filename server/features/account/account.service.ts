import { createHmac, randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CurrentUser, OwnAccount, Profile } from '../../../contract/account.ts'
import { usernameProblem } from '../../../contract/account-rules.ts'
import { NO_REPLIES_RECEIVED } from '../../../contract/constants.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { emailKey, maskEmail } from '../../kernel/mail/email-address.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { selectReplySummary } from '../answers/answers.repository.ts'
import { removeOperations } from '../codes/codes.repository.ts'
import { countWaiting } from '../moderation/queue.repository.ts'
import { selectMutedUsers } from '../mutes/mutes.repository.ts'
import { markRemoved, undoPasskeyChanges } from '../passkeys/passkeys.repository.ts'
import { removeAllClients } from '../sessions/known-clients.repository.ts'
import { closeSessions, lockUser } from '../sessions/sessions.repository.ts'
import { isEmailBanned } from '../site-state/site-state.service.ts'
import type { ChangedPasskey, EmailNotice, NewEmailNotice, PasskeyNotice } from './account.mail.ts'
import {
  endEmailChange,
  findEmailChangeOwner,
  insertEmailChange,
  insertUser,
  prolongEmailChanges,
  selectCurrentUser,
  selectEmailChange,
  selectUserByEmail,
  storeConsentText,
  updateEmail,
  updateUsername,
} from './account.repository.ts'
import {
  isUsernameTaken,
  releaseUsername,
  reserveUsernames,
  returnUsername,
  selectAuthorsAfter,
  selectByUsername,
  selectUsernames,
} from './usernames.repository.ts'

const NAME_TRIES = 5

export async function readAccount(db: Queryable, userId: string): Promise<CurrentUser> {
  const profile = await selectCurrentUser(db, userId)
  if (!profile.isModerator) return profile
  return { ...profile, waitingReports: (await countWaiting(db)).posts }
}

export async function readOwnAccount(db: Queryable, userId: string): Promise<OwnAccount> {
  const [account, received, muted] = await Promise.all([
    readAccount(db, userId),
    selectReplySummary(db, userId),
    selectMutedUsers(db, userId),
  ])
  return {
    ...account,
    ...(!isDeepStrictEqual(received, NO_REPLIES_RECEIVED) && { received }),
    ...(muted.length > 0 && { mutedAuthors: muted.map(({ id }) => id) }),
  }
}

/** Finds an author by username, or by one released in the last 30 days. Throws NOT_FOUND. */
export async function requireProfile(db: Queryable, username: string): Promise<Profile> {
  const profile = usernameProblem(username) ? undefined : await selectByUsername(db, username)
  if (!profile) throw new AppError('NOT_FOUND', { message: 'Автора с таким именем нет' })
  return profile
}

/** Yields the names of all authors with visible posts or replies, in steps. */
export async function* readAuthors(db: Queryable, limit: number): AsyncGenerator<string[]> {
  for (let id = '0'; ; ) {
    const authors = await selectAuthorsAfter(db, { id, limit })
    yield authors.map(({ username }) => username)
    if (authors.length < limit) return
    id = authors.at(-1)?.id ?? id
  }
}

type VerifiedAddress = { email: string; networkHash: Buffer | null; consentText: string }

/** Thrown if another transaction has created the account: locking it now could deadlock. */
export class AccountAppeared extends AppError {
  constructor() {
    super('UNAVAILABLE')
  }
}

/**
 * Returns the user of a verified e-mail: `locked`, or a new user for a registration.
 * Throws OPERATION_EXPIRED if the account's e-mail is no longer exactly the verified e-mail.
 */
export async function findOrCreateUser(
  tx: Queryable,
  { locked, ...proven }: VerifiedAddress & { locked: CurrentUser | undefined },
  purpose: 'login' | 'registration',
): Promise<{ user: CurrentUser; isNew: boolean }> {
  const isNew = !locked && purpose === 'registration'
  const user = isNew ? await createUser(tx, proven) : locked
  if (user?.email !== proven.email) throw new AppError('OPERATION_EXPIRED')
  return { user, isNew }
}

async function createUser(
  tx: Queryable,
  { consentText, ...proven }: VerifiedAddress,
): Promise<CurrentUser> {
  const consentVersion = await storeConsentText(tx, consentText)
  for (let tries = 0; tries < NAME_TRIES; tries++) {
    const created = await insertUser(tx, { ...proven, consentVersion, username: generateName() })
    if (created) return created
    if (await selectUserByEmail(tx, proven.email)) throw new AccountAppeared()
  }
  throw new Error('no free username was found')
}

function generateName(): string {
  return `user_${randomInt(36 ** 7)
    .toString(36)
    .padStart(7, '0')}`
}

export function hashUsername(username: string, nameKey: Buffer): Buffer {
  return createHmac('sha256', nameKey).update(username.toLowerCase()).digest()
}

/** Reserves all usernames of a user who is about to be erased, to prevent impersonation. */
export async function reserveNamesOf(tx: Queryable, id: string, nameKey: Buffer): Promise<void> {
  const names = await selectUsernames(tx, id)
  const hashes = names.map((name) => hashUsername(name, nameKey))
  await reserveUsernames(tx, hashes)
}

type Renaming = {
  userId: string
  username: string
  nameKey: Buffer
  /** An operator takes the old name away for good, and may give it back. */
  byOperator?: boolean
}

/** Throws USERNAME_ALREADY_EXISTS for a reserved name, a unique violation for a taken name. */
export async function renameUser(
  tx: Queryable,
  { userId, username, nameKey, byOperator = false }: Renaming,
): Promise<void> {
  const locked = await lockUser(tx, userId)
  if (!locked) throw new AppError('USER_NOT_FOUND')
  const old = locked.username
  await updateUsername(tx, userId, username)
  if (old.toLowerCase() === username.toLowerCase()) return
  // Checked after the update, which has waited for a transaction that releases this name.
  const wish = { username, userId, nameHash: hashUsername(username, nameKey) }
  if (byOperator) await returnUsername(tx, wish)
  if (await isUsernameTaken(tx, wish)) throw new AppError('USERNAME_ALREADY_EXISTS')
  await releaseUsername(tx, { username: old, userId })
  if (byOperator) await reserveUsernames(tx, [hashUsername(old, nameKey)])
}

/** Changes the e-mail, and mails an undo link to the old address: it may be a theft. */
export async function changeEmail(
  tx: Queryable,
  { id: userId, email: old, username }: CurrentUser,
  email: string,
): Promise<void> {
  await updateEmail(tx, userId, email)
  if (emailKey(old) === emailKey(email)) return
  await removeOperations(tx, { purpose: 'email-change', userId })
  await insertUndoableChange(tx, { id: userId, email: old, username })
}

type LostMailbox = { userId: string; email: string; reason: string; actor: string }

/**
 * Changes the e-mail of a person who has lost their mailbox, and mails both addresses. Whoever was
 * signed in is signed out, and passkeys are removed: who asks for this has none, so they are lost or
 * a thief's. Throws EMAIL_ALREADY_EXISTS, or a unique violation, for a taken address,
 * and REGISTRATION_CLOSED for a banned one. Returns until when the old address can undo it.
 */
export async function changeLostEmail(
  tx: Queryable,
  { userId, email, reason, actor }: LostMailbox,
): Promise<Date> {
  const user = await lockUser(tx, userId)
  if (!user) throw new AppError('USER_NOT_FOUND')
  if (await selectUserByEmail(tx, email)) throw new AppError('EMAIL_ALREADY_EXISTS')
  if (await isEmailBanned(tx, email)) {
    throw new AppError('REGISTRATION_CLOSED', { message: `Почта ${email} запрещена` })
  }
  const { username, email: oldEmail } = user
  await updateEmail(tx, userId, email)
  await removeOperations(tx, { purpose: 'email-change', userId })
  const until = await insertUndoableChange(tx, user, { reason })
  // The undo of the change returns them, because it also undoes all later changes.
  for (const { id } of await markRemoved(tx, userId)) {
    await insertEmailChange(tx, { userId, oldEmail, passkey: { id, isRemoval: true } })
  }
  const undoableUntil = until.getTime()
  const notice: NewEmailNotice = { to: email, isSecurity: true, username, reason, undoableUntil }
  await queueMail(tx, 'send-new-email-notice', notice)
  await closeSessions(tx, userId, { reason: 'Сессия завершена: почта аккаунта изменена' })
  await removeAllClients(tx, userId)
  const details = { from: maskEmail(oldEmail), to: maskEmail(email) }
  await appendToJournal(tx, { actor, action: 'user.email', userId, reason, details })
  return until
}

type PasskeyChange = { id: string; name: string; isRemoval: boolean; device: string | null }
type WhatChanged = { reason?: string; passkey?: PasskeyChange }

/**
 * Stores a change of the account, and mails the link that undoes it to the address before it.
 * Returns when the link expires.
 */
export async function insertUndoableChange(
  tx: Queryable,
  { id: userId, email: oldEmail, username }: CurrentUser,
  { reason, passkey }: WhatChanged = {},
): Promise<Date> {
  const change = await insertEmailChange(tx, { userId, oldEmail, passkey })
  const { id, expires_at: expiresAt } = change
  const link = { id, oldEmail, expiresAt }
  if (passkey) {
    const { name, isRemoval, device } = passkey
    const when = { at: Date.now(), device }
    await mailPasskeyLink(tx, username, { ...link, name, isRemoval, ...when })
  } else await mailUndoLink(tx, username, { ...link, ...(reason && { reason }) })
  return expiresAt
}

type UndoableChange = { id: string; oldEmail: string; expiresAt: Date }

function mailUndoLink(
  tx: Queryable,
  username: string,
  { id: changeId, oldEmail: to, expiresAt, ...more }: UndoableChange & { reason?: string },
): Promise<void> {
  const ends = expiresAt.getTime()
  const notice: EmailNotice = { to, username, isSecurity: true, changeId, expiresAt: ends, ...more }
  return queueMail(tx, 'send-email-notice', notice)
}

function mailPasskeyLink(
  tx: Queryable,
  username: string,
  { id: changeId, oldEmail: to, expiresAt, ...what }: UndoableChange & ChangedPasskey,
): Promise<void> {
  const ends = expiresAt.getTime()
  const ofAll = { to, username, isSecurity: true, changeId, expiresAt: ends }
  const notice: PasskeyNotice = { ...ofAll, ...what }
  return queueMail(tx, 'send-passkey-notice', notice)
}

/**
 * Restores the old e-mail, and the passkeys as they were. Changes nothing if it was restored less than two minutes ago, because
 * the answer may have been lost. Rejects with LINK_EXPIRED, or a unique violation if it is taken.
 */
export async function undoEmailChange(
  tx: Queryable,
  id: string,
): Promise<{ userId: string; isRepeated: boolean }> {
  const userId = await findEmailChangeOwner(tx, id)
  const user = userId === undefined ? undefined : await lockUser(tx, userId)
  if (!user) throw new AppError('LINK_EXPIRED')
  const change = await selectEmailChange(tx, id)
  if (change?.isUndone && change.oldEmail === user.email) {
    return { userId: user.id, isRepeated: true }
  }
  if (!change?.isLive) throw new AppError('LINK_EXPIRED')
  await undoPasskeyChanges(tx, { changeId: id, userId: user.id })
  await endEmailChange(tx, { id, userId: user.id })
  await updateEmail(tx, user.id, change.oldEmail)
  await closeSessions(tx, user.id, { reason: 'Сессия завершена: изменение в аккаунте отменено' })
  await removeAllClients(tx, user.id)
  await removeOperations(tx, { purpose: 'email-change', userId: user.id })
  // The undo may be a thief's, so the earlier links work for three more days and are mailed again.
  for (const earlier of await prolongEmailChanges(tx, user.id)) {
    const { passkeyName: name, isRemoval, ...link } = earlier
    if (name !== null) await mailPasskeyLink(tx, user.username, { ...link, name, isRemoval })
    else if (emailKey(link.oldEmail) !== emailKey(change.oldEmail)) {
      await mailUndoLink(tx, user.username, link)
    }
  }
  return { userId: user.id, isRepeated: false }
}
