import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { certificateForTest } from '../../server/testing/certificate.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { openHangingSmtp, SMTP_STEPS } from '../../server/testing/hanging-smtp.ts'
import { shiftedClock } from '../../server/testing/shifted-clock.ts'
import { openRefusingSmtp, openTarpitSmtp } from '../../server/testing/smtp-faults.ts'
import { EMAIL } from './wall-commands.ts'

const DAY = 86_400

/** A broken mail server, and what is reported about it. */
export type Fault = {
  name: string
  url: string
  port: number
  close: () => Promise<void>
  /** nodemailer's name of the error, and words of the reason. */
  error: string
  reason: RegExp
  /** Words of the advice. */
  fix: RegExp
  /** Whether the doctor, which logs in and sends nothing, finds the server broken. */
  isLoginBroken: boolean
}

const MEND: Record<string, RegExp> = {
  ESOCKET: /имя и порт/,
  ETIMEDOUT: /имя и порт/,
  EENVELOPE: /причина в его ответе/,
  EPROTOCOL: /подождите/,
  EABORT: /слишком медленно/,
}
/** The faults that come after the login. */
const LATE = [
  '451 for an address',
  ...['sender', 'address', 'data'].map((at) => `silence at: ${at}`),
]

type Opened = { url: string; port: number; close(): Promise<void> }

/** Starts a mail server for each way of being broken. */
export async function openFaults(): Promise<Fault[]> {
  const port = await freePort()
  const away = { url: `smtp://127.0.0.1:${port}`, port, close: async () => {} }
  const refusal = async (code: number, at: 'address' | 'connect') => {
    const opened = await openRefusingSmtp({ code, at, words: `4.3.0 not now for <${EMAIL}>` })
    return { ...opened, url: `smtp://127.0.0.1:${opened.port}` }
  }
  const drip = await openTarpitSmtp('hello')
  const of = (opened: Opened, name: string, error: string, reason: RegExp): Fault => ({
    ...opened,
    name,
    error,
    reason,
    fix: (name === 'an expired certificate' ? /сертификат/ : MEND[error]) ?? /никогда/,
    isLoginBroken: !LATE.includes(name),
  })
  return [
    of(away, 'no server', 'ESOCKET', /ECONNREFUSED/),
    of(
      await refusal(451, 'address'),
      '451 for an address',
      'EENVELOPE',
      /451 .*<o\*{3}@example\.org>/,
    ),
    of(await refusal(421, 'connect'), '421 at the greeting', 'EPROTOCOL', /421 /),
    of({ ...drip, port: Number(new URL(drip.url).port) }, 'a slow drip', 'EABORT', /.+/),
    of(await openExpired(), 'an expired certificate', 'ESOCKET', /certificate has expired/),
    ...(await Promise.all(
      SMTP_STEPS.filter((step) => step !== 'message').map(async (step) =>
        of(await openHangingSmtp(step), `silence at: ${step}`, 'ETIMEDOUT', /.+/),
      ),
    )),
  ]
}

/** A certificate that was valid a month ago. */
export async function expiredCertificate() {
  const clock = await shiftedClock()
  await clock.shift(-40 * DAY)
  return certificateForTest(10, clock.env)
}

/** A mail server with an expired certificate, for an address that trusts its issuer. */
async function openExpired(): Promise<Opened> {
  const { key, cert } = await expiredCertificate()
  const server = new SMTPServer({ key, cert, authOptional: true })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const trust = new URLSearchParams({ requireTLS: 'true', 'tls.ca': String(cert) })
  return {
    url: `smtp://localhost:${port}?${trust}`,
    port,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
