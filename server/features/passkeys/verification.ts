import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Assertion, Attestation } from '../../../contract/passkeys.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { ownOriginOf } from '../../kernel/http/headers.ts'

/** The algorithms of COSE: Ed25519, ES256 and RS256, of which every authenticator has one. */
export const ALGORITHMS = [-8, -7, -257]

/** Where a passkey is valid: it is bound to the host, and signs the origin of the page. */
export type Site = { origin: string; host: string }

/** Returns the site of PUBLIC_URL; if that is unset, the one that the request was sent to. */
export function siteOf(request: FastifyRequest, publicUrl: string | undefined): Site {
  const origin = ownOriginOf(request, publicUrl) ?? ''
  return { origin, host: URL.parse(origin)?.hostname ?? '' }
}

/** Returns what a passkey signs for an operation: an HMAC of its id, so it is not stored. */
export function deriveChallenge(operationId: string, key: Buffer): string {
  return createHmac('sha256', key).update(operationId).digest('base64url')
}

type Expected = { challenge: string; site: Site }

/**
 * Throws INVALID_PASSKEY if the page stood in a frame of another site. The library accepts it if the
 * browser does not name that site.
 */
function requireOwnFrame(clientDataJSON: string): void {
  const client = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
  if (client.crossOrigin || client.topOrigin) throw new AppError('INVALID_PASSKEY')
}

const expectedOf = ({ challenge, site }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: site.origin,
  expectedRPID: site.host,
  requireUserVerification: true,
})

// The library takes 30 MB, which a wall without passkeys need not have.
const loadLibrary = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

export type VerifiedPasskey = {
  credentialId: Buffer
  publicKey: Buffer
  counter: number
  aaguid: string
  isSynced: boolean
  isBackedUp: boolean
}

/** Verifies a new passkey. Throws INVALID_PASSKEY. */
export async function verifyAttestation(
  { id, clientDataJSON, attestationObject }: Attestation,
  expected: Expected,
): Promise<VerifiedPasskey> {
  const { verifyRegistrationResponse } = await loadLibrary()
  const { decodeAttestationObject } = await loadHelpers()
  return refuseInvalid(async () => {
    requireOwnFrame(clientDataJSON)
    const statement = decodeAttestationObject(Buffer.from(attestationObject, 'base64url'))
    // The library asks the network about certificates, whose addresses the caller has written. A
    // browser that was asked for none sends none.
    const isPlain = ['none', 'packed'].includes(statement.get('fmt'))
    if (!isPlain || statement.get('attStmt').get('x5c')) throw new AppError('INVALID_PASSKEY')
    const { registrationInfo } = await verifyRegistrationResponse({
      ...expectedOf(expected),
      supportedAlgorithmIDs: ALGORITHMS,
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
    })
    if (registrationInfo?.credential.id !== id) throw new AppError('INVALID_PASSKEY')
    const { credential, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo
    return {
      credentialId: Buffer.from(credential.id, 'base64url'),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      aaguid,
      isSynced: credentialDeviceType === 'multiDevice',
      isBackedUp: credentialBackedUp,
    }
  })
}

/** Verifies what a passkey has signed. The caller compares its counter. Throws INVALID_PASSKEY. */
export async function verifyAssertion(
  { id, ...response }: Assertion,
  publicKey: Buffer,
  expected: Expected,
): Promise<{ counter: number; isBackedUp: boolean }> {
  const { verifyAuthenticationResponse } = await loadLibrary()
  return refuseInvalid(async () => {
    requireOwnFrame(response.clientDataJSON)
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expectedOf(expected),
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    })
    if (!verified) throw new AppError('INVALID_PASSKEY')
    const { newCounter, credentialBackedUp } = authenticationInfo
    return { counter: newCounter, isBackedUp: credentialBackedUp }
  })
}

/** The library rejects invalid data with errors of any kind. */
function refuseInvalid<T>(verify: () => Promise<T>): Promise<T> {
  return verify().catch(() => {
    throw new AppError('INVALID_PASSKEY')
  })
}
