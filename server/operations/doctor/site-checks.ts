import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { json } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { type Config, originOf } from '../../kernel/config/config.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import { tlsReason } from '../../kernel/mail/smtp-advice.ts'
import { broken, type CheckResult, type Finding, findingsOf, ok, warning } from './finding.ts'
import { type DoctorRequest, IDENTITY_PATH } from './identity.ts'

const WAIT_MS = 10_000
const DAY_MS = 86_400_000
const FEW_DAYS = 14

type Site = Pick<Config, 'publicUrl' | 'port' | 'trustProxy'>
/** The header that proves that the doctor knows the wall's secret. */
type Question = Record<string, string>
type Answer = { seen: DoctorRequest | undefined; certificateEnds: Date | undefined; proxy: string }

/** Checks that this server answers at PUBLIC_URL, and through which proxy. */
export async function checkSite(site: Site, question: Question): Promise<Finding[]> {
  const origin = originOf(site)
  const answer = await ask(origin, question).catch((error: NodeJS.ErrnoException) => error)
  if (answer instanceof Error) return findingsOf(explainFailure(origin, answer))
  const { seen, certificateEnds, proxy } = answer
  return findingsOf({
    'public url': checkAddress(origin, site, seen),
    certificate: certificateEnds && checkCertificate(origin, certificateEnds, proxy),
    ...(seen && { proxy: checkProxy(seen, site), ready: checkReady(origin) }),
  })
}

function checkAddress(
  origin: string,
  { publicUrl }: Site,
  seen: DoctorRequest | undefined,
): CheckResult {
  if (!seen) {
    const message = `по адресу ${origin} отвечает не этот сервер`
    return broken(message, 'Проверьте PUBLIC_URL, запись DNS и куда передаёт прокси')
  }
  const message = `по адресу ${origin} отвечает этот сервер`
  if (publicUrl !== undefined) return ok(message)
  const fix =
    'Задайте PUBLIC_URL, если сайтом пользуются с других машин: туда ведут ссылки в письмах'
  return warning(`${message}, PUBLIC_URL не задан`, fix)
}

/** How to renew a certificate, by the proxy that the header Server names. */
const RENEWALS: [RegExp, fix: string][] = [
  [/^caddy/i, 'Caddy не обновил сертификат, причина в его журнале: journalctl -u caddy'],
  [/^nginx/i, 'Обновите сертификат: certbot renew'],
]

function checkCertificate(origin: string, ends: Date, proxy: string): CheckResult {
  const days = Math.floor((ends.getTime() - Date.now()) / DAY_MS)
  const message = `сертификат ${origin} действует ещё ${days} дн.`
  if (days >= FEW_DAYS) return ok(message)
  const [, fix = 'Обновите сертификат, причина в журнале прокси'] =
    RENEWALS.find(([name]) => name.test(proxy)) ?? []
  return warning(message, fix)
}

function checkProxy({ peer, isForwarded, isTrusted }: DoctorRequest, site: Site): CheckResult {
  if (isForwarded && !isTrusted) {
    return broken(
      `прокси ${peer} передаёт X-Forwarded-For, но ему не доверяют: все посетители считаются за одного`,
      `Задайте TRUST_PROXY=${[...site.trustProxy, peer].join(',')}`,
    )
  }
  if (isForwarded) return ok(`прокси ${peer} передаёт адреса посетителей`)
  // The server itself does not speak TLS, so an https address needs a proxy.
  if (site.publicUrl?.startsWith('https:')) {
    return broken(
      `прокси ${peer} не передаёт X-Forwarded-For: все посетители считаются за одного`,
      'Добавьте в прокси заголовок X-Forwarded-For: docs/operations.md, «Behind a proxy»',
    )
  }
  return ok('прокси перед сервером нет')
}

/** Asks the server itself, which may reach the database by another way than the doctor. */
async function checkReady(origin: string): Promise<CheckResult> {
  const signal = AbortSignal.timeout(WAIT_MS)
  const status = await fetch(`${origin}/readyz`, { signal }).then(
    (answer) => answer.status,
    whyFailed,
  )
  if (status === 200) return ok('сервер готов: запись возможна')
  return broken(
    `сервер сейчас не может писать: ${origin}/readyz — ${status}`,
    'Причина — в его журнале, в строках с level error; проверьте базу данных и место на диске',
  )
}

/** Sends the question. `seen` is undefined if another server has answered. */
async function ask(origin: string, headers: Question): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const get = origin.startsWith('https:') ? httpsGet : httpGet
  const options = { headers, agent: false, signal: AbortSignal.timeout(WAIT_MS) } as const
  get(`${origin}${IDENTITY_PATH}`, options, resolve).on('error', reject)
  const response = await promise
  const socket = response.socket as TLSSocket
  const certificate = socket.encrypted ? socket.getPeerCertificate() : undefined
  const certificateEnds = certificate && new Date(certificate.valid_to)
  const isJson = response.headers['content-type']?.startsWith('application/json')
  const body =
    isJson && response.statusCode === 200 ? ((await json(response)) as DoctorRequest | null) : null
  response.destroy()
  const proxy = String(response.headers.server ?? '')
  return { seen: body?.peer ? body : undefined, certificateEnds, proxy }
}

/** Matches error codes of OpenSSL and Node for certificates that browsers refuse too. */
const CERTIFICATE = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_/

function explainFailure(origin: string, error: NodeJS.ErrnoException) {
  const { code = '', message } = error
  if (CERTIFICATE.test(code)) {
    const text = `сертификат ${origin} не годится: ${tlsReason(message) ?? message}`
    const fix = 'Обновите сертификат и подключите его вместе с цепочкой'
    return { certificate: broken(text, fix) }
  }
  const fix = 'Запустите сервер и прокси; проверьте PUBLIC_URL, запись DNS и открыт ли порт'
  return { 'public url': broken(`${origin} не отвечает: ${whyFailed(error)}`, fix) }
}
