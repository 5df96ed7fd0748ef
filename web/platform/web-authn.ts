/** The API of WebAuthn, with base64url in place of bytes: older browsers have no JSON of it. */

type Descriptor = Omit<PublicKeyCredentialDescriptor, 'id'> & { id: string }
type User = Omit<PublicKeyCredentialUserEntity, 'id'> & { id: string }
type CreationOptions = Omit<
  PublicKeyCredentialCreationOptions,
  'challenge' | 'user' | 'excludeCredentials'
> & { challenge: string; user: User; excludeCredentials: Descriptor[] }
type RequestOptions = Omit<PublicKeyCredentialRequestOptions, 'challenge' | 'allowCredentials'> & {
  challenge: string
}

/** Creates a passkey. Rejects with an error of the browser, whose name says why. */
export async function createCredential({ excludeCredentials, ...options }: CreationOptions) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: excludeCredentials.map((one) => ({ ...one, id: toBytes(one.id) })),
  }
  const { id, response } = requireKey(await navigator.credentials.create({ publicKey }))
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse
  return {
    id,
    clientDataJSON: toText(clientDataJSON),
    attestationObject: toText(attestationObject),
  }
}

export async function isAutofillSupported(): Promise<boolean> {
  return (await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false
}

/** Lets the browser offer passkeys in a field, until one is chosen. Rejects if it is aborted. */
export async function chooseCredential(options: RequestOptions, signal: AbortSignal) {
  const publicKey = { ...options, challenge: toBytes(options.challenge) }
  const chosen = await navigator.credentials.get({ mediation: 'conditional', signal, publicKey })
  const { id, response } = requireKey(chosen)
  const signed = response as AuthenticatorAssertionResponse
  const userHandle = signed.userHandle && toText(signed.userHandle)
  return {
    id,
    authenticatorData: toText(signed.authenticatorData),
    clientDataJSON: toText(signed.clientDataJSON),
    signature: toText(signed.signature),
    ...(userHandle && { userHandle }),
  }
}

function requireKey(credential: Credential | null): PublicKeyCredential {
  if (!credential) throw new Error('no credential')
  return credential as PublicKeyCredential
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (byte) => byte.charCodeAt(0))
}

function toText(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
