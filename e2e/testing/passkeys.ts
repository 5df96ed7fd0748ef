import type { CDPSession, Page } from 'playwright-core'
import { Authenticator } from '../../server/testing/authenticator.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import type { Journey } from './journey.ts'

/** A phone or computer of the page's browser that keeps passkeys and knows its owner. */
export type Device = { cdp: CDPSession; authenticatorId: string }

const OPTIONS = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
} as const

/** Gives the browser of a page a device, with passkeys that were created elsewhere. */
export async function addDevice(
  page: Page,
  { isReady = true, passkeys = new Authenticator() } = {},
): Promise<Device> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...OPTIONS, isUserVerified: isReady, automaticPresenceSimulation: isReady },
  })
  for (const { id, host, userHandle, key, counter } of passkeys.credentials) {
    await cdp.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: {
        credentialId: id.toString('base64'),
        isResidentCredential: true,
        rpId: host,
        userHandle: Buffer.from(userHandle, 'base64url').toString('base64'),
        privateKey: key.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
        signCount: counter,
      },
    })
  }
  return { cdp, authenticatorId }
}

/** The person touches the device, or looks at it. */
export async function confirm({ cdp, authenticatorId }: Device): Promise<void> {
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true })
}

export async function countKeys({ cdp, authenticatorId }: Device): Promise<number> {
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
  return credentials.length
}

/** Adds a passkey to an account by the API. Returns where it is kept. */
export async function passkeyOf(
  { call, url }: Pick<Journey, 'call' | 'url'>,
  { token }: TestUser,
  passkeys = new Authenticator(),
): Promise<Authenticator> {
  const headers = { origin: url }
  const path = '/users/current/passkeys'
  const { body } = await call('POST', path, { token, headers })
  const created = passkeys.create(body.options, url)
  await call('POST', `${path}/${body.id}/verify`, { token, headers, body: created })
  return passkeys
}
