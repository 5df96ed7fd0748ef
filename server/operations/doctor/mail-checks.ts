import type { Resolver } from 'node:dns/promises'
import type { MailReputation } from '../../features/site-state/mail-reputation.service.ts'
import type { Config } from '../../kernel/config/config.ts'
import { formatOperatorTime } from '../../kernel/errors/words.ts'
import { domainOf } from '../../kernel/mail/email-address.ts'
import type { MailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { verifySmtp } from '../../kernel/mail/relay.ts'
import { explainSmtp } from '../../kernel/mail/smtp-advice.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

/** The delay from which a mail is late. Mails leave within seconds. */
const LATE_SECONDS = 120

export function checkMailQueue(health: MailHealth): CheckResult {
  const { waiting, failing, limited, oldestSeconds, failingSince, error, reason, lastHour } = health
  const { lateNotices: late } = health
  const isLate = late.since !== null
  const message =
    `писем в очереди: ${waiting}, не уходят: ${failing}` +
    (late.since
      ? `, уведомлений ждёт дольше 10 минут: ${late.count}, первое для ${late.masked} с ${formatOperatorTime(late.since)}`
      : '')
  if (limited > 0) {
    return broken(
      `${message}, исчерпаны письма этого часа: ${limited}`,
      'Если столько писем и нужно, увеличьте MAILS_PER_HOUR; кому они, покажет vslukh mail log',
    )
  }
  if (failingSince === null) {
    const fix = 'Что с каждым из них, покажет vslukh mail log'
    if (oldestSeconds >= LATE_SECONDS || isLate) return broken(message, fix)
    const { sent, refused, expired } = lastHour
    if (expired === 0 || sent + refused > 0) return ok(message)
    return warning(`${message}, за час опоздало: ${expired}, а не ушло ни одно`, fix)
  }
  const since = `с ${formatOperatorTime(failingSince)}`
  const { message: why, fix } = explainSmtp({ code: error, message: reason })
  return broken(`${message}, ${since}: ${why}`, fix)
}

export function checkMailReputation({ refused, networks, isSlowed }: MailReputation): CheckResult {
  const message = `кодов на адреса, которых нет, за час: ${refused}, сетей: ${networks}`
  if (!isSlowed) return ok(message)
  return broken(
    `${message}; письма новым адресам уходят по одному в 10 секунд`,
    'Кто-то просит коды на несуществующие адреса: посмотрите vslukh mail log и запретите эти домены или сети: vslukh ban add',
  )
}

export async function checkSmtp({ smtpUrl, publicUrl }: Config): Promise<CheckResult> {
  if (smtpUrl === undefined) {
    const message = 'письма только печатаются и сохраняются в DATA_DIR/mail'
    if (publicUrl === undefined) return ok(message)
    return warning(message, 'Задайте SMTP_URL, чтобы коды доходили до людей')
  }
  const { host } = new URL(smtpUrl)
  try {
    await verifySmtp({ url: smtpUrl, publicUrl })
    return ok(`почтовый сервер ${host} отвечает и впускает`)
  } catch (error) {
    const { message, fix } = explainSmtp(error as NodeJS.ErrnoException)
    return broken(`почтовый сервер ${host}: ${message}`, fix)
  }
}

/** Errors if DNS answered that there is no record. Other errors mean that it did not answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']

type MailRecord = { name: string; at: string; begins: string; key?: string | undefined }
type DkimRecord = { selector: string; publicKey: string | undefined }

/** Returns the DNS records that mail servers check: SPF, DMARC, and DKIM if mails are signed. */
export function mailRecords(mailFrom: string, dkim?: DkimRecord): MailRecord[] {
  const domain = domainOf(mailFrom)
  const ours = { at: `${dkim?.selector}._domainkey.${domain}`, key: dkim?.publicKey }
  return [
    { name: 'SPF', at: domain, begins: 'v=spf1' },
    { name: 'DMARC', at: `_dmarc.${domain}`, begins: 'v=dmarc1' },
    ...(dkim ? [{ name: 'DKIM', begins: 'v=dkim1', ...ours }] : []),
  ]
}

/** Returns the records that DNS lacks; undefined if DNS does not answer. */
export async function findMissingRecords(
  records: MailRecord[],
  resolver: Resolver,
): Promise<MailRecord[] | undefined> {
  const missing: MailRecord[] = []
  for (const record of records) {
    const texts = await readTxtRecords(resolver, record.at)
    if (texts === undefined) return undefined
    if (!texts.some((text) => matchesRecord(text, record))) missing.push(record)
  }
  return missing
}

function matchesRecord(text: string, { begins, key }: MailRecord): boolean {
  const [, published] = /;p=([^;]*)/.exec(text.replace(/\s/g, '')) ?? []
  return text.toLowerCase().startsWith(begins) && (key === undefined || published === key)
}

type DnsQuery = { resolver: Resolver; dkim?: DkimRecord | undefined }

export async function checkMailDomain(mailFrom: string, query: DnsQuery): Promise<CheckResult> {
  const domain = domainOf(mailFrom)
  if (!domain.includes('.')) return ok(`${domain}: в DNS такого имени нет`)
  const records = mailRecords(mailFrom, query.dkim)
  const missing = await findMissingRecords(records, query.resolver)
  if (missing === undefined) {
    return ok(`${domain}: DNS не отвечает, не проверено`)
  }
  const names = records.map(({ name }) => name).join(', ')
  if (missing.length === 0) return ok(`${domain}: в DNS есть ${names}`)
  const lacked = missing.map(
    ({ name, at, key }) => `${name} (${at}${key ? ', с ключом из DKIM_KEY_FILE' : ''})`,
  )
  return warning(
    `${domain}: в DNS нет записей ${lacked.join(', ')}`,
    'Добавьте TXT-записи: их печатает vslukh setup; без них письма попадают в спам',
  )
}

/** Returns TXT records, which may be none; undefined if DNS does not answer. */
export async function readTxtRecords(
  resolver: Resolver,
  name: string,
): Promise<string[] | undefined> {
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
  } catch (error) {
    return NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined
  }
}
