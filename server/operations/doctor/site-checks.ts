import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { json } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { type Config, originOf } from '../../kernel/config/config.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
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

/** Checks that each former address still leads to PUBLIC_URL, path by path, with its certificate. */
export async function checkFormerUrls({
  publicUrl,
  formerUrls,
}: Pick<Config, 'publicUrl' | 'formerUrls'>): Promise<CheckResult | undefined> {
  if (formerUrls.length === 0 || publicUrl === undefined) return undefined
  const faults = (await Promise.all(formerUrls.map((url) => formerFault(url, publicUrl)))).flat()
  if (faults.length === 0) return ok(`прежние адреса ведут сюда: ${formerUrls.join(', ')}`)
  return broken(
    faults.join('; '),
    'Направьте прежнее имя записью A на эту машину и повторите vslukh setup; если оно уже не ваше, уберите его из FORMER_URLS',
  )
}

/** Any path of a wall: what counts is that it stays. */
const SOME_PATH = '/posts/1?from=doctor'

async function formerFault(url: string, publicUrl: string): Promise<string[]> {
  const signal = AbortSignal.timeout(WAIT_MS)
  try {
    const { status, headers } = await fetch(url + SOME_PATH, { redirect: 'manual', signal })
    const target = headers.get('location')
    if ((status === 301 || status === 308) && target === publicUrl + SOME_PATH) return []
    const answer = target ? `ведёт на ${target}` : `отвечает ${status} и никуда не ведёт`
    return [`прежний адрес ${url} ${answer}`]
  } catch (error) {
    const cause = (error as Error).cause ?? error
    const { message } = explainHttps(url, cause as NodeJS.ErrnoException) ?? {}
    return [message ?? `прежний адрес ${url} не отвечает: ${whyFailed(error)}`]
  }
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

/** What is wrong with a certificate, by OpenSSL's and Node's code of the error. */
const CERTIFICATE_FAULTS: [RegExp, message: string][] = [
  [/ALTNAME/, 'выдан на другое имя'],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, 'не действует: срок истёк или ещё не начался'],
  [/SELF_SIGNED/, 'подписан самим сервером, браузеры ему не верят'],
  [/CERT_|UNABLE_TO_/, 'не проверить: неизвестно, кем он выдан, или нет всей цепочки'],
]

/** What is wrong before there is a certificate, by the error's code and message. */
const TLS_FAULTS: [RegExp, message: string][] = [
  [/wrong.version.number|packet.length.too.long|http.request/i, 'на этом порту отвечают без TLS'],
  [/alert|unrecognized.name|handshake.failure/i, 'у прокси ещё нет сертификата для этого имени'],
  [/ERR_SSL|EPROTO/, 'прокси не отвечает по TLS'],
]

type HttpsFault = { check: 'certificate' | 'public url'; message: string; fix: string }

/** Returns what is wrong with https at an origin, and what helps; undefined if it is another fault. */
export function explainHttps(
  origin: string,
  { code = '', message = '' }: { code?: string | undefined; message?: string },
): HttpsFault | undefined {
  const { hostname, port } = new URL(origin)
  const [, fault] = CERTIFICATE_FAULTS.find(([codes]) => codes.test(code)) ?? []
  const [, tls] = TLS_FAULTS.find(([words]) => words.test(`${code} ${message}`)) ?? []
  if (!fault && !tls) return undefined
  return {
    check: fault ? 'certificate' : 'public url',
    message: fault ? `сертификат ${origin} ${fault}` : `${origin} не отвечает: ${tls}`,
    fix:
      `Проверьте, ведёт ли запись A имени ${hostname} на эту машину и открыты ли порты 80 и ${port || 443}; ` +
      'причина в журнале прокси: journalctl -u caddy -n 20, у nginx — certbot renew',
  }
}

function explainFailure(origin: string, error: NodeJS.ErrnoException) {
  const { check, ...fault } = explainHttps(origin, error) ?? {
    check: 'public url',
    message: `${origin} не отвечает: ${whyFailed(error)}`,
    fix: 'Запустите сервер и прокси; проверьте PUBLIC_URL, запись DNS и открыт ли порт',
  }
  return { [check]: broken(fault.message, fault.fix) }
}
