import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { readIfExists } from '../../server/kernel/config/read-if-exists.ts'
import { broken, type Finding } from '../../server/operations/doctor/finding.ts'
import { sentenceOfFailure } from '../../server/operations/start/start-failure.ts'
import type { BaseContext, Command, Env, Output } from '../command.ts'
import { Interrupted } from '../command.ts'
import { resultLine } from '../doctor.ts'
import { type Answers, hostOf, readAnswers } from './answers.ts'
import { isOwnDomain } from './dns.ts'
import { requireMachine } from './machine.ts'
import { PROXIES, type ProxyName } from './proxy.ts'
import { BACKUP_FOLDER, readSettings, SETTINGS_FILE, withSettings } from './settings-file.ts'
import { type Installation, STEPS } from './steps.ts'

const DKIM = { DKIM_KEY_FILE: '/etc/vslukh/dkim.pem', DKIM_SELECTOR: 'wall' }
const RECORDS =
  'Записи для DNS, как в файле зоны (в панели хостинга — без кавычек и без пробела между частями):'
const GUIDE = join(import.meta.dirname, '../../docs/first-wall.md')

export const setup: Command = {
  summary: 'настраивает машину целиком: адрес сайта, почту, шифрование; можно повторять',
  needs: 'nothing',
  forms: {
    'setup [ИМЯ_САЙТА] [--smtp-url АДРЕС] [--smtp-url-file ФАЙЛ] [--mail-from ПОЧТА] [--name ИМЯ] [--contact ПОЧТА] [--proxy ПРОКСИ]':
      setUp,
  },
}

async function setUp(context: BaseContext): Promise<Output> {
  const { proxy = 'caddy' } = context.options
  const gid = await requireMachine()
  const before = (await readIfExists(SETTINGS_FILE)) ?? ''
  const set = parseEnv(before)
  const answers = await readAnswers(context, set)
  await tellOfMove(context, hostOf(set), answers.host)
  const text = withSettings(before, settingsFor(answers, set))
  const config = readSettings(text)
  const formerHosts = config.formerUrls.map((url) => new URL(url).hostname)
  const site = { ...answers, config, proxy, formerHost: hostOf(set), formerHosts }
  if (context.isDryRun) return planOutput(site, parseEnv(text), set)
  return runSteps(
    {
      ...site,
      gid,
      before,
      text,
      records: [],
      hasProxy: false,
      hasDatabase: true,
      needsFirstPost: false,
    },
    context,
  )
}

/** Tells what ends with another host, and asks if there is a terminal. Throws Refusal. */
async function tellOfMove(context: BaseContext, from: string | undefined, to: string) {
  if (from === undefined || from === to) return
  context.say(
    `Сайт переходит с ${from} на ${to}. Прежнее имя останется: каждая его страница поведёт на новое, поэтому не бросайте его и его запись A. ` +
      'Ключи доступа действуют только на прежнем имени: людям понадобится код из письма. Остальное: docs/operations.md, «Changing the name».',
  )
  if (context.prompt) await context.confirm('Продолжить?')
}

/** Returns the settings to write: the answers, and defaults for settings that are not set. */
function settingsFor({ host, smtpUrl, mailFrom, name, contact }: Answers, set: Env): Env {
  return {
    PUBLIC_URL: `https://${host}`,
    FORMER_URLS: formerUrls(set, host),
    TRUST_PROXY: set.TRUST_PROXY || '127.0.0.1',
    SMTP_URL: smtpUrl,
    MAIL_FROM: mailFrom,
    OPERATOR_NAME: name,
    CONTACT_EMAIL: contact,
    MODERATOR_EMAIL: set.MODERATOR_EMAIL || contact,
    BACKUP_DIR: set.BACKUP_DIR || (existsSync(BACKUP_FOLDER) ? BACKUP_FOLDER : undefined),
    ...(!set.DKIM_KEY_FILE && isOwnDomain({ host, mailFrom }) && DKIM),
  }
}

/** Returns the addresses that lead to this one: the former ones, and that of the settings. */
function formerUrls({ PUBLIC_URL = '', FORMER_URLS = '' }: Env, host: string): string | undefined {
  const named = FORMER_URLS.split(',').map((url) => url.trim())
  const urls = [...named, PUBLIC_URL.startsWith('https:') ? PUBLIC_URL : '']
  const former = new Set(urls.filter((url) => url !== '' && url !== `https://${host}`))
  return former.size > 0 || FORMER_URLS !== '' ? [...former].join(',') : undefined
}

function planOutput(
  { host, proxy }: { host: string; proxy: ProxyName },
  now: Env,
  set: Env,
): Output {
  const changed = Object.keys(now).filter((name) => now[name] !== set[name])
  const { file } = PROXIES[proxy]
  const names = changed.length > 0 ? changed.join(', ') : 'ничего нового'
  return {
    lines: [`Сайт: https://${host}`, `В ${SETTINGS_FILE}: ${names}`, `Прокси: ${file}`],
    json: { address: `https://${host}`, changed, file },
  }
}

/** Runs every step, even after an earlier step has failed. */
async function runSteps(site: Installation, context: BaseContext): Promise<Output> {
  const findings: Finding[] = []
  for (const [check, step] of STEPS) {
    const found = await step(site, context).catch((error: Error) => {
      if (error instanceof Interrupted) throw error
      return broken(sentenceOfFailure(error), 'Исправьте и повторите vslukh setup')
    })
    // The doctor may repeat the finding of a step.
    const named = [found].flat().map((verdict) => ({ check, ...verdict }))
    const fresh = named.filter((one) => !findings.some((old) => isSameFinding(old, one)))
    for (const finding of fresh) context.say(resultLine(finding))
    findings.push(...fresh)
  }
  const isBroken = findings.some(({ level }) => level === 'broken')
  const address = `https://${site.host}`
  const left = findings.filter(({ fix }) => fix).map((one) => sentence(resultLine(one).slice(2)))
  const todo = [...left, ...closingLines(site)]
  const zone = site.records.length > 0 ? ['', RECORDS, '', ...site.records] : []
  const lines = [...zone, '', `Стена: ${address}`, 'Осталось:']
  lines.push(...todo.map((line, index) => `${index + 1}. ${line}`))
  return { lines, json: { address, findings, records: site.records, todo }, isBroken }
}

const sentence = (text: string) => text.replace(/^[а-я]/, (letter) => letter.toUpperCase())

const isSameFinding = (old: Finding, one: Finding) =>
  old.message === one.message || (old.check === one.check && old.level !== 'ok')

function closingLines({ host, contact, config, needsFirstPost }: Installation): string[] {
  return [
    ...(needsFirstPost
      ? [
          `Войдите на https://${host} с почтой ${contact} и напишите первую запись: вы там модератор.`,
        ]
      : []),
    ...(config.backupDir
      ? [`Копии стены ложатся каждую ночь в ${config.backupDir}: переносите их и на другую машину.`]
      : []),
    `Первая неделя и что делать, если что-то не так: ${GUIDE}`,
  ]
}
