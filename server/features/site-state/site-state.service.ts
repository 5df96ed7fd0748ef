import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { formatDate } from '../../../contract/dates.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { INVITE_ONLY, OPEN_SITE, PATHS, type SiteState } from '../../../contract/pages.ts'
import { parsePostText, textLength } from '../../../contract/text.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { parseAddress, parseAddressIn } from '../../kernel/limits/limits.ts'
import { domainOf, mailboxOf } from '../../kernel/mail/email-address.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { mailReputationMails } from './mail-reputation.mail.ts'
import { type Asker, removeOldRefusals } from './mail-reputation.repository.ts'
import { contains, rangeOf } from './shut-networks.ts'
import {
  type Admission,
  type AdmissionQuery,
  type Ban,
  type BanKind,
  claimInvitation,
  deleteBan,
  deleteInvitation,
  insertInvitation,
  type NewBan,
  type NewInvitation,
  type Notice,
  removeExpiredSiteRows,
  selectAdmission,
  selectEnd,
  selectSiteState,
  updateNotice,
  updateSiteState,
  upsertBan,
} from './site-state.repository.ts'
import { refusalWithContact } from './write-refusal.ts'

const MAX_AGE_MS = 1000
export const NOTICE_MAX = 200
const INVITATION_OVER = 'Приглашение больше не действует. Попросите новое'

/** Never rejects: without the database, everything counts as open. */
export const readSiteState = (db: Db): Promise<SiteState> =>
  selectSiteState(db).catch(() => OPEN_SITE)

/**
 * Creates a reader that returns a state for a second. What is itself cached needs `readSiteState`,
 * because the ages would add up.
 */
export function createSiteStateReader(db: Db): () => Promise<SiteState> {
  const states = new LRUCache<'now', SiteState>({
    max: 1,
    ttl: MAX_AGE_MS,
    fetchMethod: () => readSiteState(db),
  })
  return () => states.forceFetch('now')
}

type Act = { actor: string }
type Part = { part: 'registrations' | 'writing' }

export function registerSiteState({ config }: ServerContext): BackgroundWork {
  return {
    mails: mailReputationMails(noticeOptions(config)),
    pruning: [removeExpiredSiteRows, removeOldRefusals],
  }
}

export async function closeSite(
  tx: Queryable,
  { part, reason, actor }: Act & Part & { reason: string },
): Promise<void> {
  await updateSiteState(tx, { [`${part}_closed`]: reason })
  await appendToJournal(tx, { actor, action: `${part}.close`, reason })
}

export async function openSite(
  tx: Queryable,
  { part, isInviteOnly = false, actor }: Act & Part & { isInviteOnly?: boolean },
): Promise<void> {
  const access = { registrations_closed: null, is_invite_only: isInviteOnly }
  await updateSiteState(tx, part === 'writing' ? { writing_closed: null } : access)
  const how = isInviteOnly ? 'invite-only' : 'open'
  await appendToJournal(tx, { actor, action: `${part}.${how}` })
}

/** Ends the wall on a day: from then on it can only be read. Pages say so 30 days before. */
export async function endWall(tx: Queryable, { on, actor }: Act & { on: Date }): Promise<void> {
  const ended = `стена закрылась ${formatDate(on)}, её можно только читать`
  await updateSiteState(tx, { ends_at: on, ended })
  await appendToJournal(tx, { actor, action: 'wall.end', details: { on } })
}

/** Takes an end back. Returns false if there was none. */
export async function continueWall(tx: Queryable, { actor }: Act): Promise<boolean> {
  if ((await selectEnd(tx)) === null) return false
  await updateSiteState(tx, { ends_at: null, ended: null })
  await appendToJournal(tx, { actor, action: 'wall.continue' })
  return true
}

/** Replaces the notice that all visitors see. Returns undefined if the text is not one line. */
export async function showNotice(
  tx: Queryable,
  { text: raw, seconds, actor }: Act & { text: string; seconds?: number | undefined },
): Promise<Notice | undefined> {
  const text = parsePostText(raw)
  if (text === null || /[\n\u2028\u2029]/.test(text) || textLength(text) > NOTICE_MAX)
    return undefined
  const until = await updateNotice(tx, { text, seconds })
  await appendToJournal(tx, { actor, action: 'notice.show', details: { text, until } })
  return { text, until }
}

export async function clearNotice(tx: Queryable, { actor }: Act): Promise<void> {
  await updateSiteState(tx, { notice: null, notice_since: null, notice_until: null })
  await appendToJournal(tx, { actor, action: 'notice.clear' })
}

export async function invite(
  tx: Queryable,
  { origin, actor, ...invitation }: Act & NewInvitation & { origin: string },
): Promise<{ link: string; id: string; until: Date }> {
  const token = randomBytes(16).toString('base64url')
  const { id, until } = await insertInvitation(tx, {
    ...invitation,
    tokenHash: hashInvitation(token),
  })
  await appendToJournal(tx, { actor, action: 'invite', details: { id, ...invitation } })
  // The token follows the `#`, which browsers do not send, so that it appears in no log.
  return { link: `${origin}${PATHS.invitation}#${token}`, id, until }
}

export async function revokeInvitation(
  tx: Queryable,
  { id, actor }: Act & { id: string },
): Promise<boolean> {
  const details = await deleteInvitation(tx, id)
  if (details) await appendToJournal(tx, { actor, action: 'invite.revoke', details })
  return details !== undefined
}

function hashInvitation(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Adds a ban from registrations or from all requests. Returns undefined if it is invalid. */
export async function addBan(
  tx: Queryable,
  ban: NewBan,
): Promise<Pick<Ban, 'id' | 'until'> | undefined> {
  const { kind, seconds, coversAll, reason, actor } = ban
  const value = normalizeBan(kind, ban.value)
  if (value === undefined) return undefined
  await appendToJournal(tx, {
    actor,
    action: 'ban.add',
    reason,
    details: { kind, value, coversAll, seconds },
  })
  return upsertBan(tx, { ...ban, value })
}

/** Whether a ban is too wide: a network wider than /8 (IPv6: /16), or a top-level domain. */
export function isBanTooWide(kind: BanKind, value: string): boolean {
  const normal = normalizeBan(kind, value)
  if (normal === undefined || kind === 'email') return false
  if (kind === 'domain') return !normal.includes('.')
  const [address = '', bits = 128] = normal.split('/')
  return Number(bits) < (address.includes(':') ? 16 : 8)
}

export async function removeBan(
  tx: Queryable,
  { id, actor }: Act & { id: string },
): Promise<boolean> {
  const ban = await deleteBan(tx, id)
  if (ban) await appendToJournal(tx, { actor, action: 'ban.remove', details: ban })
  return ban !== undefined
}

/** Whether a network contains one of the server's own addresses, such as its proxy's. */
export function isOwnNetwork(network: string, own: string[]): boolean {
  const normal = normalizeNetwork(network)
  const range = normal === undefined ? undefined : rangeOf(normal)
  return own.some((address) => range !== undefined && contains(range, parseAddress(address)))
}

function normalizeBan(kind: BanKind, written: string): string | undefined {
  const value = written.trim()
  if (kind === 'network') return normalizeNetwork(value)
  if (kind === 'email') return value.includes('@') ? mailboxOf(value) : undefined
  return domainOf(`x@${value.replace(/^@/, '')}`) || undefined
}

type Applicant = { email: string; ip: string; invitation?: string | undefined }
/** `contact` is the address that refused people may write to. */
type Refusable = Applicant & { contact: string | undefined }

/** Throws REGISTRATION_CLOSED if the applicant is banned or lacks a required invitation. */
export async function requireRegistrable(
  db: Queryable,
  applicant: Refusable,
  asker?: Asker,
): Promise<Admission> {
  const admission = await selectAdmission(db, admissionQueryOf(applicant), asker)
  if (admission.isBanned) {
    const why = 'С этой почтой или из этой сети зарегистрироваться нельзя'
    throw refusalWithContact('REGISTRATION_CLOSED', why, applicant.contact)
  }
  if (isInvitationNeeded(admission) && !admission.isInvited)
    throw uninvitedError(admission, applicant)
  return admission
}

export async function isEmailBanned(db: Queryable, email: string): Promise<boolean> {
  return (await selectAdmission(db, admissionQueryOf({ email, ip: '' }))).isBanned
}

/** Checks as `requireRegistrable` after the e-mail was verified, and uses the invitation once. */
export async function claimRegistration(tx: Queryable, applicant: Refusable): Promise<void> {
  const admission = await requireRegistrable(tx, applicant)
  if (!isInvitationNeeded(admission)) return
  const { tokenHash } = admissionQueryOf(applicant)
  // Another applicant may have used the invitation up since the check.
  if (!(tokenHash && (await claimInvitation(tx, tokenHash))))
    throw uninvitedError(admission, applicant)
}

export async function isValidInvitation(db: Queryable, invitation: string): Promise<boolean> {
  const admission = await selectAdmission(db, admissionQueryOf({ email: '', ip: '', invitation }))
  return admission.isInvited || !isInvitationNeeded(admission)
}

function admissionQueryOf({ email, ip, invitation }: Applicant): AdmissionQuery {
  return {
    mailbox: mailboxOf(email),
    domain: domainOf(email),
    address: parseAddress(ip)?.toString() ?? null,
    tokenHash: invitation === undefined ? null : hashInvitation(invitation),
  }
}

const isInvitationNeeded = ({ closedReason, isInviteOnly }: Admission) =>
  closedReason !== null || isInviteOnly

function uninvitedError({ closedReason }: Admission, { invitation, contact }: Refusable): AppError {
  if (invitation !== undefined) {
    return new AppError('REGISTRATION_CLOSED', { message: INVITATION_OVER })
  }
  const why =
    closedReason === null ? INVITE_ONLY : `${ERRORS.REGISTRATION_CLOSED.message}: ${closedReason}`
  return refusalWithContact('REGISTRATION_CLOSED', why, contact)
}

/** Returns an address or network (CIDR) for PostgreSQL, IPv4 in IPv6 as IPv4. */
function normalizeNetwork(value: string): string | undefined {
  const [, written = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(value) ?? []
  const { address, before = 0 } = parseAddressIn(written) ?? {}
  if (address === undefined || bits === undefined) return address?.toString()
  if (Number(bits) > (written.includes(':') ? 128 : 32)) return undefined
  // What follows the IPv4 address in a 6to4 address divides the network of one subscriber.
  const length = Math.min(Number(bits) - before, address.kind() === 'ipv6' ? 128 : 32)
  return length >= 0 ? `${address}/${length}` : undefined
}
