import { generateKeyPairSync } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../server/kernel/config/config.ts'
import { ifExists } from '../../server/kernel/config/read-if-exists.ts'
import { connectionReason } from '../../server/kernel/errors/why-failed.ts'
import type { TestMail } from '../../server/kernel/mail/test-mail.service.ts'
import {
  broken,
  type CheckResult,
  type Finding,
  ok,
  warning,
} from '../../server/operations/doctor/finding.ts'
import { explainHttps } from '../../server/operations/doctor/site-checks.ts'
import { hasCluster } from '../../server/operations/embedded-postgres/cluster.ts'
import type { BaseContext } from '../command.ts'
import type { Answers } from './answers.ts'
import { makeDatabase, makeSecret, NoPostgres } from './database.ts'
import { isOwnDomain, missingRecords } from './dns.ts'
import {
  awaitAnswer,
  hasSystemd,
  holderName,
  portHolder,
  run,
  runVslukh,
  untilServiceReady,
} from './machine.ts'
import { type ProxyName, setUpProxy } from './proxy.ts'
import { readSettings, SETTINGS_FILE, withSettings, writeForWall } from './settings-file.ts'

export type Installation = Answers & {
  config: Config
  proxy: ProxyName
  formerHost: string | undefined
  formerHosts: string[]
  gid: number
  /** The text of the settings file, before and after the answers. */
  before: string
  text: string
  /** The missing DNS records, and whether the proxy runs; set by their steps. */
  records: string[]
  hasProxy: boolean
  /** Set by the step `database`; false if the server would create its wall in the wrong place. */
  hasDatabase: boolean
  /** Set by the step `moderator`: the contact is a moderator of a wall without posts. */
  needsFirstPost: boolean
}

type Step = (site: Installation, context: BaseContext) => Promise<CheckResult | CheckResult[]>

export const STEPS: [string, Step][] = [
  ['database', prepareDatabase],
  ['settings', writeSettings],
  ['dkim', makeDkimKey],
  ['server', startServer],
  ['proxy', loadProxy],
  ['mail domain', checkDns],
  ['public url', openSite],
  ['smtp', sendMail],
  ['moderator', addFirstModerator],
  ['doctor', runDoctor],
]

/** Prepares a database for a new wall. Does not move an existing wall, which would interrupt it. */
async function prepareDatabase(site: Installation): Promise<CheckResult> {
  const { databaseUrl, dataDir } = site.config
  if (databaseUrl !== undefined) return ok('база данных задана в DATABASE_URL')
  if (await hasCluster(join(dataDir, 'postgres'))) {
    const message = `стена лежит во встроенном PostgreSQL (${dataDir}/postgres), а его apt не обновляет`
    return warning(message, 'Перенесите её в PostgreSQL системы: vslukh move-database')
  }
  try {
    const { url, version } = await makeDatabase()
    await makeSecret(dataDir)
    site.text = withSettings(site.text, { DATABASE_URL: url })
    site.config = readSettings(site.text)
    return ok(`база vslukh готова в PostgreSQL ${version} этой машины`)
  } catch (error) {
    site.hasDatabase = error instanceof NoPostgres
    if (!site.hasDatabase) throw error
    const fix = 'Установите его, apt install postgresql, и перенесите стену: vslukh move-database'
    return warning('PostgreSQL здесь нет: встроенный — для проб', fix)
  }
}

async function writeSettings({ before, text, gid }: Installation): Promise<CheckResult> {
  if (text === before) return ok(`${SETTINGS_FILE}: всё уже задано`)
  await writeForWall(SETTINGS_FILE, text, gid)
  return ok(`${SETTINGS_FILE}: настройки записаны`)
}

async function makeDkimKey(site: Installation): Promise<CheckResult> {
  const { dkim, mailFrom } = site.config
  if (!dkim) {
    const message = `письма уходят с адреса ${mailFrom}, а его домен не связан с сайтом`
    const fix = `Если его DNS ведёте не вы, за подпись отвечает почтовый сервер; иначе --mail-from no-reply@${site.host}`
    return warning(message, fix)
  }
  if (await ifExists(stat(dkim.keyFile))) return ok(`ключ DKIM есть: ${dkim.keyFile}`)
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  await writeForWall(dkim.keyFile, privateKey, site.gid)
  return ok(`ключ DKIM создан: ${dkim.keyFile}`)
}

async function startServer(
  { before, text, config, hasDatabase }: Installation,
  { say }: BaseContext,
): Promise<CheckResult> {
  const holder = await portHolder(config.port)
  if (holder && holder.uid !== Number((await run('id', ['-u', 'vslukh'])).out)) {
    const fix = `Остановите её или задайте PORT в ${SETTINGS_FILE}, и повторите vslukh setup`
    return broken(holderName(config.port, holder), fix)
  }
  if (!hasSystemd()) {
    return broken('systemd здесь нет', 'Запустите сервер сами: docs/operations.md, «By hand»')
  }
  if (!hasDatabase) return broken('сервер не запущен: базы данных нет', 'Сначала исправьте её')
  const acts = text === before ? ['start'] : ['reset-failed', 'restart']
  for (const act of ['enable', ...acts]) {
    const { isDone, err } = await run('systemctl', [act, '--quiet', 'vslukh'])
    if (!isDone && act !== 'reset-failed')
      return broken(`служба vslukh: ${err.trim()}`, 'Установите пакет заново')
  }
  const onWait = () => say('Запускаем сервер: в первый раз это до полуминуты.')
  const reason = await untilServiceReady(config, onWait)
  if (reason === undefined) return ok('сервер запущен и готов')
  const { out } = await run('journalctl', '-u vslukh _TRANSPORT=stdout -n 1 -o cat'.split(' '))
  const message = `сервер не готов: ${out.trim() || reason}`
  return broken(message, 'Посмотрите журнал: journalctl -u vslukh -n 20')
}

async function checkDns(site: Installation): Promise<CheckResult> {
  const missing = await missingRecords({ ...site, dkim: site.config.dkim })
  if (missing === undefined) {
    return warning('DNS не отвечает, записи не проверены', 'Повторите vslukh setup позже')
  }
  site.records = missing
  const names = isOwnDomain(site) ? 'адрес сайта, SPF, DKIM и DMARC' : 'адрес сайта'
  if (missing.length === 0) return ok(`в DNS есть ${names}`)
  return warning(
    `в DNS не хватает записей: ${missing.length}`,
    'Добавьте их там, где куплен домен (они напечатаны ниже), и через час повторите vslukh setup',
  )
}

async function loadProxy(site: Installation): Promise<CheckResult> {
  const verdict = await setUpProxy(site.proxy, { ...site, port: site.config.port })
  site.hasProxy = verdict.level === 'ok'
  return verdict
}

const SITE_SECONDS = 60

/** Waits for the site, because the proxy needs some seconds for the first certificate. */
async function openSite(
  { host, proxy, hasProxy }: Installation,
  { say }: BaseContext,
): Promise<CheckResult> {
  const gaveUp = async (reason: string) =>
    !hasProxy || ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED'].includes(reason)
  const onWait = () => say(`Ждём https://${host}: первый сертификат занимает до минуты.`)
  const url = `https://${host}/readyz`
  const reason = await awaitAnswer(url, { seconds: SITE_SECONDS, gaveUp, onWait })
  if (reason === undefined) return ok(`https://${host} открывается`)
  if (reason === 'ENOTFOUND') {
    const fix = 'Направьте имя на этот сервер записью A и повторите vslukh setup'
    return broken(`имени ${host} в DNS ещё нет`, fix)
  }
  // The code is the reason if the error has one.
  const fault = explainHttps(`https://${host}`, { code: reason, message: reason })
  if (fault) return broken(fault.message, fault.fix)
  const fix = `Проверьте запись A и открыты ли порты 80 и 443; причина в journalctl -u ${proxy} -n 20`
  return broken(`https://${host} не открывается: ${connectionReason(reason) ?? reason}`, fix)
}

async function sendMail(
  { contact, config }: Installation,
  { actor, prompt }: BaseContext,
): Promise<CheckResult> {
  const { failure } = await runVslukh<TestMail>(actor, 'mail', 'test', contact)
  if (failure) return broken(`письмо не отправлено: ${failure.message}`, failure.fix)
  const accepted = `письмо для ${contact} принято почтовым сервером`
  const look = `Проверьте ящик и «Спам»: тема «Проверка почты · ${config.appName}»`
  if (!prompt) return warning(`${accepted}, дошло ли оно, никто не подтвердил`, look)
  for (;;) {
    const answer = await prompt(`${accepted}. Когда увидите его, напишите «дошло» (или «нет»): `)
    if (/^дошло[.!]?$/i.test(answer)) return ok(`письмо дошло до ${contact}`)
    if (/^нет[.!]?$/i.test(answer)) return broken(`${accepted}, но не дошло`, look)
  }
}

type Moderators = { email: string; username: string | null }[]

/** A moderator who was removed stays removed. */
async function addFirstModerator(site: Installation, { actor }: BaseContext): Promise<CheckResult> {
  const { contact } = site
  const list = () => runVslukh<Moderators>(actor, 'moderator', 'list')
  if ((await list()).length === 0) await runVslukh(actor, 'moderator', 'add', contact, '--first')
  const emails = (await list()).map(({ email }) => email)
  if (emails.length === 0) {
    return warning(
      'модераторов нет, жалобы видны только командам',
      'Назначьте: vslukh moderator add ПОЧТА',
    )
  }
  const { posts } = await runVslukh<{ posts: number }>(actor, 'status')
  const isContact = emails.some((email) => email.toLowerCase() === contact.toLowerCase())
  site.needsFirstPost = isContact && Number(posts) === 0
  return ok(`модераторы: ${emails.join(', ')}`)
}

async function runDoctor(_site: Installation, { actor }: BaseContext): Promise<CheckResult[]> {
  const { findings } = await runVslukh<{ findings: Finding[] }>(actor, 'doctor')
  const odd = findings.filter(({ level }) => level !== 'ok')
  const well = findings.length - odd.length
  return [...odd, ok(`проверок doctor пройдено: ${well} из ${findings.length}`)]
}
