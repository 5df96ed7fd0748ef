import { readFileSync } from 'node:fs'
import { domainToASCII } from 'node:url'
import { isEmail } from '../../contract/account-rules.ts'
import { whyFailed } from '../../server/kernel/errors/why-failed.ts'
import { verifySmtp } from '../../server/kernel/mail/relay.ts'
import { explainSmtp } from '../../server/kernel/mail/smtp-advice.ts'
import { resolveFromCaller } from '../../server/operations/start/caller-folder.ts'
import { type BaseContext, type Env, Refusal, readEmail, UsageError } from '../command.ts'
import { openTrustedFile } from '../named-path.ts'
import type { Options } from '../options.ts'

export type Answers = Record<'host' | 'smtpUrl' | 'mailFrom' | 'name' | 'contact', string>

type Question = {
  given: string | undefined
  option: string
  text: string
  usual: string | undefined
  /** The usual answer as the terminal shows it, without its password. */
  shown?: string | undefined
  read(text: string): string
}

type Asking = Pick<BaseContext, 'words' | 'options' | 'say' | 'prompt'>

/** Takes answers from the command line, the terminal or settings. Throws UsageError or Refusal. */
export async function readAnswers(asking: Asking, set: Env): Promise<Answers> {
  const { options, words } = asking
  const missing: string[] = []
  const answer = async (question: Question) => {
    const found = await answerTo(question, asking)
    if (found === undefined) missing.push(question.option)
    return found ?? ''
  }
  const formerHost = hostOf(set)
  const host = await answer({
    ...{ given: words[0], option: 'имени сайта', usual: formerHost, read: readHost },
    text: 'Имя сайта, например wall.example',
  })
  let smtp = ''
  let given = givenSmtpUrl(options)
  do {
    const smtpUrl = await answer({
      ...{ given, option: '--smtp-url-file', usual: set.SMTP_URL, read: readSmtp },
      text: 'Почтовый сервер, например smtp.example.org или smtp://localhost:25',
      shown: set.SMTP_URL?.replace(/:[^:@/]*@/, ':…@'),
    })
    smtp = given ? smtpUrl : await addLogin(smtpUrl, asking)
    given = undefined
  } while (!(await verifyLogin(smtp, { asking, set, host })))
  const login = decodeURIComponent(URL.parse(smtp)?.username ?? '')
  const chosenFrom = set.MAIL_FROM === `no-reply@${formerHost}` ? undefined : set.MAIL_FROM
  const mailFrom = await answer({
    ...{ given: options['mail-from'], option: '--mail-from', read: readEmail },
    usual: chosenFrom || (isEmail(login) ? login : host && `no-reply@${host}`),
    text: 'С какого адреса отправлять письма',
  })
  const name = await answer({
    ...{ given: options.name, option: '--name', usual: set.OPERATOR_NAME, read: readName },
    text: 'Кто отвечает за сайт: имя или название, его увидят все',
  })
  const contact = await answer({
    ...{ given: options.contact, option: '--contact', usual: set.CONTACT_EMAIL, read: readEmail },
    text: 'Ваша почта: её увидят все, на неё придут жалобы и проверочное письмо',
  })
  if (missing.length > 0) throw new UsageError(`не хватает: ${missing.join(', ')}`)
  return { host, smtpUrl: smtp, mailFrom, name, contact }
}

/** Returns the given URL. Throws UsageError for a password in `--smtp-url`: every user sees it. */
function givenSmtpUrl({ 'smtp-url': url, 'smtp-url-file': path }: Options): string | undefined {
  if (path !== undefined) return readOptionFile(path, '--smtp-url-file')
  if (url === undefined || !/:[^:@/]+@/.test(url)) return url
  throw new UsageError('--smtp-url с паролем видят все, кто есть на машине: нужен --smtp-url-file')
}

/** Reads the file that an option names; `-` is the standard input. Throws UsageError. */
export function readOptionFile(path: string, option: string): string {
  try {
    return readFileSync(path === '-' ? 0 : openTrustedFile(resolveFromCaller(path)), 'utf8').trim()
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new UsageError(`${option}: файл ${path} не прочитан: ${whyFailed(error)}`)
  }
}

export const hostOf = ({ PUBLIC_URL = '' }: Env) => URL.parse(PUBLIC_URL)?.hostname

async function answerTo(question: Question, { say, prompt }: Asking): Promise<string | undefined> {
  const { given, text, usual, shown = usual, read } = question
  if (given !== undefined) return read(given)
  if (!prompt) return usual && read(usual)
  for (;;) {
    const typed = (await prompt(`${text}${usual ? ` [${shown}]` : ''}: `)) || usual || ''
    try {
      return read(typed)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      say(typed === '' ? 'Без этого не обойтись.' : `Не подходит: ${error.message}.`)
    }
  }
}

async function addLogin(smtpUrl: string, { prompt }: Pick<Asking, 'prompt'>): Promise<string> {
  const url = URL.parse(smtpUrl)
  if (!prompt || !url || url.username !== '' || url.hostname === 'localhost') return smtpUrl
  const user = await prompt('Имя для входа на него, часто это адрес почты (нет — просто Enter): ')
  if (user === '') return smtpUrl
  const password = await prompt('Пароль (на экране не появится): ', { isHidden: true })
  const login = [user, password].map((part) => encodeURIComponent(part).replaceAll("'", '%27'))
  return smtpUrl.replace('//', `//${login.join(':')}@`)
}

type LoginTrial = { asking: Asking; set: Env; host: string }

/** Logs in to a new mail server. On failure, returns false to ask again, or may throw Refusal. */
async function verifyLogin(url: string, { asking, set, host }: LoginTrial): Promise<boolean> {
  if (url === '' || url === set.SMTP_URL) return true
  const { say, prompt } = asking
  const error = await verifySmtp({ url, publicUrl: `https://${host}` }).then(
    () => undefined,
    (failure: NodeJS.ErrnoException) => failure,
  )
  if (!error) return true
  const { message, fix } = explainSmtp(error)
  const reason = `Почта: ${message}. ${fix}.`
  if (prompt) {
    say(reason)
    return !!(await prompt('Enter — назвать сервер заново, «дальше» — записать его так: '))
  }
  if (set.SMTP_URL || error.code === 'EAUTH') throw new Refusal(`${reason} Ничего не изменено.`)
  return true
}

function readHost(text: string): string {
  const name = text.replace(/^https?:\/\//i, '').replace(/\/$/, '')
  const host = domainToASCII(name).toLowerCase()
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
  if (host.length < 254 && new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`).test(host)) return host
  throw new UsageError(`«${text}» — не имя сайта, нужно имя вида wall.example`)
}

/** Adds smtps:// to an address without a protocol, or smtp:// for localhost and the SMTP ports. */
function readSmtp(text: string): string {
  const usual = /^localhost$/i.test(text) ? 'smtp://localhost:25' : `smtps://${text}`
  const whole = /:(?:25|587|2525)$/.test(text) ? `smtp://${text}` : usual
  const url = URL.parse(text.includes('://') ? text : whole)
  const isWhole =
    url && /^smtps?:$/.test(url.protocol) && url.hostname && !/[\s'"\\]/.test(url.href)
  if (isWhole && isDecodable(url.username + url.password)) return url.href
  throw new UsageError(
    'почтовый сервер — имя, имя:порт или адрес вида smtps://имя:пароль@smtp.example.org, ' +
      'где знаки @ : / # % в имени и пароле пишут через %',
  )
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

function readName(text: string): string {
  if (text !== '' && text.length <= 200 && !/\p{Cc}/u.test(text)) return text
  throw new UsageError('имя — одна непустая строка')
}
