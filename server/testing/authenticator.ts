import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import type { Assertion, Attestation } from '../../contract/passkeys.ts'

type Credential = { id: Buffer; host: string; userHandle: string; key: KeyObject; counter: number }

type Created = {
  challenge: string
  rp: { id: string }
  user: { id: string }
  excludeCredentials: { id: string }[]
}
type Requested = { challenge: string; rpId: string }

type Behaviour = {
  aaguid?: string
  /** Whether it counts its uses; keys that are synced between devices send 0. */
  hasCounter?: boolean
  /** Whether it asks the person for a finger or a PIN. */
  verifiesUser?: boolean
  /** What the browser adds if the page stands in a frame of another site. */
  frame?: { crossOrigin?: boolean; topOrigin?: string }
}

const UP = 0x01
const UV = 0x04
const SYNCED = 0x18
const ATTESTED = 0x40
const NO_MODEL = '00000000-0000-0000-0000-000000000000'

const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url')
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()

/** A device that keeps passkeys, with the browser that speaks to it: ES256, without attestation. */
export class Authenticator {
  readonly credentials: Credential[] = []
  readonly #behaviour: Required<Omit<Behaviour, 'frame'>> & Pick<Behaviour, 'frame'>

  constructor(behaviour: Behaviour = {}) {
    this.#behaviour = { aaguid: NO_MODEL, hasCounter: true, verifiesUser: true, ...behaviour }
  }

  /** Creates a passkey on a page of this origin, for a host that the page names. */
  create(
    { challenge, rp, user }: Created,
    origin: string,
    id: Buffer = randomBytes(32),
  ): Attestation {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const credential = { id, host: rp.id, userHandle: user.id, key: privateKey, counter: 0 }
    this.credentials.push(credential)
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const coseKey = new Map<number, number | Uint8Array>([
      ...([
        [1, 2],
        [3, -7],
        [-1, 1],
      ] as const),
      ...[[-2, Buffer.from(x, 'base64url')] as const, [-3, Buffer.from(y, 'base64url')] as const],
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const aaguid = Buffer.from(this.#behaviour.aaguid.replaceAll('-', ''), 'hex')
    const attested = Buffer.concat([aaguid, length, id, encode(coseKey)])
    const authData = Buffer.concat([this.#authData(credential, ATTESTED), attested])
    const statement = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ])
    return {
      id: base64url(id),
      clientDataJSON: this.#clientData('webauthn.create', challenge, origin),
      attestationObject: base64url(encode(statement)),
    }
  }

  /** Signs a challenge with the passkey that it has for the host: the last one unless given. */
  get({ challenge, rpId }: Requested, origin: string, given?: Credential): Assertion {
    const credential = given ?? this.credentials.findLast(({ host }) => host === rpId)
    if (!credential) throw new Error(`no passkey for ${rpId}`)
    if (this.#behaviour.hasCounter) credential.counter++
    const authData = this.#authData({ ...credential, host: rpId }, 0)
    const clientDataJSON = this.#clientData('webauthn.get', challenge, origin)
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    return {
      id: base64url(credential.id),
      clientDataJSON,
      authenticatorData: base64url(authData),
      signature: base64url(sign('sha256', signed, credential.key)),
      userHandle: credential.userHandle,
    }
  }

  #clientData(type: string, challenge: string, origin: string): string {
    const data = { type, challenge, origin, crossOrigin: false, ...this.#behaviour.frame }
    return base64url(JSON.stringify(data))
  }

  #authData({ host, counter }: Credential, more: number): Buffer {
    const { hasCounter, verifiesUser } = this.#behaviour
    const flags = UP | (verifiesUser ? UV : 0) | (hasCounter ? 0 : SYNCED) | more
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(host), Buffer.from([flags]), count])
  }
}

function encode(value: Map<never, unknown> | Map<string, unknown> | Map<number, unknown>): Buffer {
  return Buffer.from(isoCBOR.encode(value as Parameters<typeof isoCBOR.encode>[0]))
}
