import { randomBytes } from 'node:crypto'
import { PASSKEYS_MAX } from '../../../contract/constants.ts'
import type { Device } from '../../../contract/fields.ts'
import type { Assertion, Attestation, Passkey } from '../../../contract/passkeys.ts'
import { isVisible, normalizeLine } from '../../../contract/text.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { insertUndoableChange } from '../account/account.service.ts'
import { returnToAccount } from '../account-deletion/account-deletion.service.ts'
import type { StartingClient } from '../codes/codes.service.ts'
import { lockUser, selectDevice } from '../sessions/sessions.repository.ts'
import { lockViewer, type Sessions } from '../sessions/sessions.service.ts'
import { announceSignIn } from '../sign-in/sign-in.service.ts'
import {
  countUse,
  expired,
  insertPasskey,
  insertPasskeyOperation,
  isRemoved,
  markRemoved,
  redeemPasskeyOperation,
  selectCredentialIds,
  selectPasskey,
  selectPasskeyOperation,
  selectSigner,
  updateName,
} from './passkeys.repository.ts'
import { PROVIDERS } from './providers.ts'
import {
  ALGORITHMS,
  deriveChallenge,
  type Site,
  verifyAssertion,
  verifyAttestation,
} from './verification.ts'

/** How long a browser waits for the person. An operation lives as long as that of a code. */
const TIMEOUT_MS = 5 * 60_000
const LIFE_FACTOR = 2
const NAMELESS = 'Ключ доступа'

const newId = () => randomBytes(24).toString('base64url')
const publicKeyOf = (id: Buffer) => ({
  type: 'public-key' as const,
  id: id.toString('base64url'),
})

function challengeOf({ key }: ServerContext, operationId: string): string {
  return deriveChallenge(operationId, key('passkeys'))
}

const lifeSecondsOf = ({ config }: ServerContext) => config.codeTtlSeconds * LIFE_FACTOR

/** Starts to add a passkey. Throws TOO_MANY_PASSKEYS. */
export async function startPasskey(context: ServerContext, viewer: Viewer, { host }: Site) {
  const id = newId()
  const { user, known } = await context.db.transaction().execute(async (tx) => {
    const user = await lockViewer(tx, viewer)
    const known = await selectCredentialIds(tx, user.id)
    if (known.length >= PASSKEYS_MAX) throw new AppError('TOO_MANY_PASSKEYS')
    const ofNobody = { client_hash: null, network_client_hash: null, device: null }
    const operation = { id, purpose: 'add' as const, user_id: user.id, ...ofNobody }
    await insertPasskeyOperation(tx, operation, lifeSecondsOf(context))
    return { user, known }
  })
  const handle = Buffer.from(user.id).toString('base64url')
  const options = {
    challenge: challengeOf(context, id),
    rp: { id: host, name: context.config.appName },
    user: { id: handle, name: user.username, displayName: user.username },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    excludeCredentials: known.map(publicKeyOf),
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true as const,
      userVerification: 'required' as const,
    },
    attestation: 'none' as const,
    timeout: TIMEOUT_MS,
  }
  return { id, options }
}

type Addition = { id: string; attestation: Attestation; site: Site }

/** Adds a passkey and mails its owner. If the answer was lost, the same call repeats it. */
export async function addPasskey(
  context: ServerContext,
  viewer: Viewer,
  { id, attestation, site }: Addition,
): Promise<{ passkey: Passkey; isRepeated: boolean }> {
  const { userId } = viewer
  const { db } = context
  const operation = await selectPasskeyOperation(db, id, { userId })
  if (!operation) throw expired()
  if (!operation.isOpen) return repeatAddition(db, userId, operation.passkeyId)
  const challenge = challengeOf(context, id)
  const { aaguid, ...verified } = await verifyAttestation(attestation, { challenge, site })
  const added = await db.transaction().execute(async (tx) => {
    const user = await lockViewer(tx, viewer)
    // The same call, sent twice, may have added it meanwhile.
    if (!(await selectPasskeyOperation(tx, id, { userId }))?.isOpen) return undefined
    const known = await selectCredentialIds(tx, userId)
    if (known.length >= PASSKEYS_MAX) throw new AppError('TOO_MANY_PASSKEYS')
    const device = nameDevice((await selectDevice(tx, viewer)) ?? null)
    const passkey = await insertPasskey(tx, {
      user_id: userId,
      credential_id: verified.credentialId,
      public_key: verified.publicKey,
      counter: verified.counter,
      is_synced: verified.isSynced,
      is_backed_up: verified.isBackedUp,
      name: PROVIDERS[aaguid] ?? device ?? NAMELESS,
    })
    if (!passkey) throw new AppError('INVALID_PASSKEY')
    const redeemed = { id, userId, passkeyId: passkey.id, sessionId: null }
    await redeemPasskeyOperation(tx, redeemed)
    const change = { ...passkey, isRemoval: false, device }
    await insertUndoableChange(tx, user, { passkey: change })
    return passkey
  })
  if (added) return { passkey: added, isRepeated: false }
  const { passkeyId = null } = (await selectPasskeyOperation(db, id, { userId })) ?? {}
  return repeatAddition(db, userId, passkeyId)
}

async function repeatAddition(db: Queryable, userId: string, passkeyId: string | null) {
  const passkey =
    passkeyId === null ? undefined : await selectPasskey(db, { id: passkeyId, userId })
  if (!passkey) throw expired()
  return { passkey, isRepeated: true }
}

export async function renamePasskey(
  { db }: ServerContext,
  viewer: Viewer,
  { id, name: given }: { id: string; name: string },
): Promise<Passkey> {
  const name = normalizeLine(given)
  if (!isVisible(name)) throw new AppError('INVALID_REQUEST', { message: 'Введите название' })
  const passkey = await db.transaction().execute(async (tx) => {
    const { id: userId } = await lockViewer(tx, viewer)
    return updateName(tx, { id, userId, name })
  })
  if (!passkey) throw new AppError('PASSKEY_NOT_FOUND')
  return passkey
}

/**
 * Removes a passkey and mails its owner, unless it was removed before. No limit counts removals, so
 * that a thief who adds passkeys cannot keep the owner from removing them.
 */
export function removePasskey(
  { db }: ServerContext,
  viewer: Viewer,
  id: string,
): Promise<{ isRepeated: boolean }> {
  return db.transaction().execute(async (tx) => {
    const user = await lockViewer(tx, viewer)
    const [removed] = await markRemoved(tx, user.id, id)
    if (!removed) {
      if (await isRemoved(tx, { id, userId: user.id })) return { isRepeated: true }
      throw new AppError('PASSKEY_NOT_FOUND')
    }
    const device = nameDevice((await selectDevice(tx, viewer)) ?? null)
    await insertUndoableChange(tx, user, { passkey: { ...removed, isRemoval: true, device } })
    return { isRepeated: false }
  })
}

type Start = { client: StartingClient; device: Device; site: Site }

/** Starts a sign-in of whatever account the passkey is for. */
export async function startPasskeyLogin(context: ServerContext, { client, device, site }: Start) {
  const id = newId()
  const operation = {
    ...{ id, purpose: 'sign-in' as const, user_id: null, device },
    client_hash: client.hashFor(id),
    network_client_hash: client.networkClientHash,
  }
  await insertPasskeyOperation(context.db, operation, lifeSecondsOf(context))
  const options = {
    challenge: challengeOf(context, id),
    rpId: site.host,
    userVerification: 'required' as const,
    timeout: TIMEOUT_MS,
  }
  return { id, options }
}

type SignIn = {
  id: string
  assertion: Assertion
  clientToken: string
  client: { clientHash: Buffer; networkClientHash: Buffer }
  browser: string
  networkHash: Buffer | null
  restore: boolean
  site: Site
  recordAccess: (tx: Queryable, userId: string) => Promise<void> | undefined
}

/**
 * Signs in with a passkey, as a code does. If the answer was lost, the same call repeats it. Throws
 * INVALID_PASSKEY, also if the counter of the passkey has gone back: it may be a copy.
 */
export async function signInWithPasskey(
  context: ServerContext,
  sessions: Sessions,
  { id, assertion, client, restore, site, recordAccess, ...opening }: SignIn,
) {
  const { db } = context
  const operation = await selectPasskeyOperation(db, id, client)
  if (!operation) throw expired()
  const credentialId = Buffer.from(assertion.id, 'base64url')
  const signer = await selectSigner(db, credentialId)
  if (!signer || !isOwnHandle(assertion, signer.userId)) throw new AppError('INVALID_PASSKEY')
  const challenge = challengeOf(context, id)
  const use = await verifyAssertion(assertion, signer.publicKey, { challenge, site })
  const { userId } = signer
  const signedIn = await db.transaction().execute(async (tx) => {
    const user = await lockUser(tx, userId)
    if (!user) throw new AppError('INVALID_PASSKEY')
    const current = await selectPasskeyOperation(tx, id, client)
    if (!current?.isOpen) return undefined
    if (!(await selectSigner(tx, credentialId))) throw new AppError('INVALID_PASSKEY')
    if (!(await countUse(tx, { ...use, id: signer.id }))) return 'refused' as const
    const isBack = await returnToAccount(tx, userId, { restore })
    const device = current.device ?? UNKNOWN_DEVICE
    const opened = await sessions.open(tx, { ...opening, operationId: id, userId, device })
    const redeemed = { id, userId, passkeyId: signer.id, sessionId: opened.viewer.sessionId }
    await redeemPasskeyOperation(tx, redeemed)
    if (!opened.isKnownClient) {
      const { closedOldest } = opened
      await announceSignIn(tx, user, { device, closedOldest, passkey: signer.name })
    }
    await recordAccess(tx, userId)
    return { ...opened, isBack, isRepeated: false }
  })
  if (signedIn === 'refused') return { refusedFor: userId }
  if (signedIn) return signedIn
  const { sessionId = null, passkeyId } = (await selectPasskeyOperation(db, id, client)) ?? {}
  if (sessionId === null || passkeyId !== signer.id) throw expired()
  const again = await sessions.openAgain(db, { userId, sessionId }, id)
  return { ...again, isBack: false, isRepeated: true }
}

/** Whether the passkey was created for the account, if it says for which one. */
function isOwnHandle({ userHandle }: Assertion, userId: string): boolean {
  return userHandle === undefined || Buffer.from(userHandle, 'base64url').toString() === userId
}

const UNKNOWN_DEVICE = { userAgent: '', userAgentVersion: '', os: '' }
