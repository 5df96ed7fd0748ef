import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import { expect, onTestFinished } from 'vitest'
import type { Finding } from '../operations/doctor/finding.ts'
import { databaseForTest } from './database/database-for-test.ts'
import { certificateForTest } from './http/certificate.ts'
import { mailboxForTest } from './mail/mailbox.ts'
import { freePort, listen } from './process/free-port.ts'
import { startCommand } from './process/run-command.ts'
import { startMain } from './process/start-main.ts'

export const APP_SECRET = 's'.repeat(32)

export type Env = Record<string, string>

/**
 * Runs the doctor with only these variables. Returns its exit code, its output and its findings by
 * check.
 */
export async function examine(env: Env) {
  const { code, out, err } = await startCommand({ env, args: ['doctor', '--json'] }).ended
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  const found = Object.fromEntries(findings.map((finding) => [finding.check, finding]))
  return { code, found, printed: out + err }
}

/** Serves a listener for one test. Resolves to its origin. */
export async function serve(listener: RequestListener, tls?: { key: Buffer; cert: Buffer }) {
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  onTestFinished(() => void server.close())
  return `${tls ? 'https' : 'http'}://localhost:${await listen(server)}`
}

type Proxy = { localAddress?: string; isSilent?: boolean }

/** The proxy names its client in X-Forwarded-For, unless it is silent. */
export function proxyTo(
  target: string,
  { localAddress = '127.0.0.1', isSilent }: Proxy,
): RequestListener {
  return (request, response) => {
    const headers = { ...request.headers, ...(!isSilent && { 'x-forwarded-for': '198.51.100.7' }) }
    const options = { headers, method: request.method, localAddress }
    http
      .request(`${target}${request.url}`, options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      .on('error', () => response.writeHead(502).end())
      .end()
  }
}

/**
 * Starts a wall with a mail server behind an https proxy, with these variables too. Returns the
 * doctor's.
 */
export async function startWall(variables: Env = {}) {
  const databaseUrl = await databaseForTest()
  const mailbox = await mailboxForTest()
  const certificate = await certificateForTest(90)
  const target = `http://127.0.0.1:${await freePort()}`
  const env: Env = {
    DATABASE_URL: databaseUrl,
    APP_SECRET,
    SMTP_URL: mailbox.url,
    PUBLIC_URL: await serve(proxyTo(target, {}), certificate),
    TRUST_PROXY: '127.0.0.1',
    OPERATOR_NAME: 'Ольга Петрова',
    CONTACT_EMAIL: 'olga@example.org',
    NODE_EXTRA_CA_CERTS: certificate.path,
    ...variables,
  }
  const { code, stderr, stop } = await startMain({ ...env, PORT: new URL(target).port })
  expect({ code, stderr }).toEqual({ code: null, stderr: '' })
  return { env, target, certificate, stop }
}
