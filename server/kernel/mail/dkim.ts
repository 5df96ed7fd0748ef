import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-reader.ts'
import { whyFailed } from '../errors/why-failed.ts'
import { domainOf } from './email-address.ts'

export type Dkim = {
  domainName: string
  keySelector: string
  privateKey: string
  headerFieldNames: string
}

/** The headers to sign. RFC 8058 requires that both List-Unsubscribe headers are signed. */
const SIGNED_HEADERS =
  'From:To:Subject:Date:Message-ID:MIME-Version:Content-Type:Content-Transfer-Encoding:Auto-Submitted:' +
  'X-Auto-Response-Suppress:OTP-Token:List-Unsubscribe:List-Unsubscribe-Post'

/** Receivers ignore signatures by shorter keys (RFC 8301). */
const SHORTEST_BITS = 1024

/** Reads the key. Throws ConfigError if the file has no readable RSA key of 1024 bits or more. */
export async function readDkim({
  dkim,
  mailFrom,
}: Pick<Config, 'dkim' | 'mailFrom'>): Promise<Dkim | undefined> {
  if (dkim === undefined) return undefined
  const { keyFile, selector } = dkim
  const privateKey = await readFile(keyFile, 'utf8').catch((cause) => {
    throw new ConfigError(`DKIM_KEY_FILE: файл ${keyFile} не прочитан: ${whyFailed(cause)}`)
  })
  if (rsaBits(privateKey) < SHORTEST_BITS) {
    throw new ConfigError(
      `DKIM_KEY_FILE: в файле ${keyFile} нет ключа RSA от ${SHORTEST_BITS} бит в виде PEM`,
    )
  }
  return {
    domainName: domainOf(mailFrom),
    keySelector: selector,
    privateKey,
    headerFieldNames: SIGNED_HEADERS,
  }
}

function rsaBits(pem: string): number {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    return asymmetricKeyType === 'rsa' ? (asymmetricKeyDetails?.modulusLength ?? 0) : 0
  } catch {
    return 0
  }
}

/** Returns the public key for `p=` of the DKIM record. Throws if the text is no key. */
export function dkimPublicKey(pem: string): string {
  const key = createPublicKey(pem)
  return key.export({ type: 'spki', format: 'der' }).toString('base64')
}
