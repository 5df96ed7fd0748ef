import type { Resolver } from 'node:dns/promises'
import type { MailName } from '../../features/site-state/mail-name.service.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { MailHealth } from '../../kernel/mail/mail-health.repository.ts'
import { smtpAdvice, smtpReason } from '../../kernel/mail/smtp-advice.ts'
import { verifySmtp } from '../../kernel/mail/verify-smtp.ts'
import { broken, type Finding, ok, warning } from './finding.ts'

/** Mails leave within seconds; one that waits longer is late. */
const LATE_SECONDS = 120

export function checkMailQueue(health: MailHealth): Finding {
  const { waiting, failing, limited, oldestSeconds, failingSince, error, reason } = health
  const message = `писем в очереди: ${waiting}, не уходят: ${failing}`
  if (limited > 0) {
    return broken(
      'mails',
      `${message}, исчерпаны письма этого часа: ${limited}`,
      'Если столько писем и нужно, увеличьте MAILS_PER_HOUR; кому они, покажет vslukh mail log',
    )
  }
  if (failing === 0 && oldestSeconds < LATE_SECONDS) return ok('mails', message)
  if (failingSince === null) {
    return broken('mails', message, 'Что с каждым из них, покажет vslukh mail log')
  }
  const since = `с ${failingSince.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return broken(
    'mails',
    `${message}, ${since}: ${smtpReason({ message: reason })}`,
    smtpAdvice({ code: error, message: reason }),
  )
}

export function checkMailName({ ended, refused, isSlowed }: MailName): Finding {
  const message = `писем новым адресам за час: ${ended}, отклонено: ${refused}`
  if (!isSlowed) return ok('refused mails', message)
  return broken(
    'refused mails',
    `${message}; поэтому они уходят медленно`,
    'Кто-то просит коды на несуществующие адреса: посмотрите vslukh mail log и запретите эти домены или сети: vslukh ban add',
  )
}

export async function checkSmtp({ smtpUrl, publicUrl }: Config): Promise<Finding> {
  if (smtpUrl === undefined) {
    const message = 'письма только печатаются и сохраняются в DATA_DIR/mail'
    if (publicUrl === undefined) return ok('smtp', message)
    return warning('smtp', message, 'Задайте SMTP_URL, чтобы коды доходили до людей')
  }
  const { host } = new URL(smtpUrl)
  try {
    await verifySmtp(smtpUrl)
    return ok('smtp', `почтовый сервер ${host} отвечает и впускает`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = smtpReason({ message })
    return broken('smtp', `почтовый сервер ${host}: ${reason}`, smtpAdvice({ code, message }))
  }
}

/** A DNS that answered has no such record. Any other error means that it did not answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']

type Asked = { resolver: Resolver; dkimSelector?: string | undefined }

/** Looks up what other mail servers ask about the domain of MAIL_FROM: SPF, DMARC, and DKIM. */
export async function checkMailDomain(mailFrom: string, asked: Asked): Promise<Finding> {
  const domain = mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  if (!domain.includes('.')) return ok('mail domain', `${domain}: в DNS такого имени нет`)
  const records = [
    { name: 'SPF', at: domain, begins: 'v=spf1' },
    { name: 'DMARC', at: `_dmarc.${domain}`, begins: 'v=dmarc1' },
    ...(asked.dkimSelector
      ? [{ name: 'DKIM', at: `${asked.dkimSelector}._domainkey.${domain}`, begins: 'v=dkim1' }]
      : []),
  ]
  const missing: string[] = []
  for (const { name, at, begins } of records) {
    const texts = await readTexts(asked.resolver, at)
    if (texts === undefined) return ok('mail domain', `${domain}: DNS не отвечает, не проверено`)
    if (!texts.some((text) => text.toLowerCase().startsWith(begins)))
      missing.push(`${name} (${at})`)
  }
  const names = records.map(({ name }) => name).join(', ')
  if (missing.length === 0) return ok('mail domain', `${domain}: в DNS есть ${names}`)
  return warning(
    'mail domain',
    `${domain}: в DNS нет записей ${missing.join(', ')}`,
    'Добавьте TXT-записи по указаниям почтового сервера: без них письма попадают в спам',
  )
}

/** Returns undefined if the DNS does not answer. */
async function readTexts(resolver: Resolver, name: string): Promise<string[] | undefined> {
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
  } catch (error) {
    return NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '') ? [] : undefined
  }
}
