import { isEmail } from '../contract/account-rules.ts'
import type { accountMails } from '../server/features/account/account.mail.ts'
import type { accountDeletionMails } from '../server/features/account-deletion/account-deletion.mail.ts'
import type { answerMails } from '../server/features/answers/answers.mail.ts'
import type { codeMails } from '../server/features/codes/codes.mail.ts'
import type { moderationMails } from '../server/features/moderation/moderation.mail.ts'
import type { signInMails } from '../server/features/sign-in/sign-in.mail.ts'
import type { mailNameMails } from '../server/features/site-state/mail-name.mail.ts'
import { deriveKey } from '../server/kernel/config/app-secret.ts'
import type { Config } from '../server/kernel/config/config.ts'
import type { Db } from '../server/kernel/db/database.ts'
import type { LoggedMail } from '../server/kernel/mail/mail-log.repository.ts'
import { MAIL_LOG_KEY, selectMailLog } from '../server/kernel/mail/mail-log.repository.ts'
import { hashAddress } from '../server/kernel/mail/outbox.repository.ts'
import { sendTestMail } from '../server/kernel/mail/test-mail.service.ts'
import { readSecret } from '../server/operations/start/installation.ts'
import type { Command, ContextWithoutWall, Output } from './command.ts'
import { listed, Refusal, requireWords, UsageError } from './command.ts'
import { printable, time } from './format.ts'
import { openWall } from './open-wall.ts'

export const mail: Command = {
  usage: ['mail test АДРЕС', 'mail log [АДРЕС]'],
  summary: 'отправляет пробное письмо и показывает каждый шаг; говорит, что стало с письмами',
  async runWithoutWall(context: ContextWithoutWall): Promise<Output> {
    const [what, address] = context.words
    if (what !== 'test' && what !== 'log') throw new UsageError('нужно test или log')
    requireWords(context, what === 'test' ? 2 : 1, 2)
    if (address !== undefined && !isEmail(address)) {
      throw new UsageError(`${address} — не адрес почты`)
    }
    return what === 'log' ? mailLog(context, address) : testMail(context, address ?? '')
  },
}

async function testMail(context: ContextWithoutWall, address: string): Promise<Output> {
  const { smtpUrl } = context.config
  if (smtpUrl === undefined) {
    throw new Refusal('SMTP_URL не задан: письма печатаются и сохраняются в DATA_DIR/mail.')
  }
  if (context.isDryRun) return { lines: [`Письмо для ${address}`], json: { address } }
  const { steps, failure } = await sendTestMail(address, { ...context.config, smtpUrl })
  const lines = steps.map((step) => `✓ ${printable(step)}`)
  if (failure) lines.push(`✗ ${printable(failure.message)}. ${failure.fix}.`)
  return { lines, json: { steps, failure }, isBroken: failure !== null }
}

type MailTask = keyof (ReturnType<typeof accountMails> &
  ReturnType<typeof accountDeletionMails> &
  ReturnType<typeof answerMails> &
  ReturnType<typeof codeMails> &
  ReturnType<typeof mailNameMails> &
  ReturnType<typeof moderationMails> &
  ReturnType<typeof signInMails>)

const KINDS: Record<MailTask, string> = {
  'send-code': 'код',
  'send-sign-in-notice': 'о входе',
  'send-email-notice': 'о смене почты',
  'send-deletion-notice': 'об удалении аккаунта',
  'send-queue-mail': 'модератору',
  'send-refusals-mail': 'об отказах новым адресам',
  'send-decision-mail': 'о решении',
  'send-block-mail': 'о блокировке',
  'send-reply-mail': 'ответы на записи',
}

const OUTCOMES: Record<LoggedMail['outcome'], string> = {
  queued: 'в очереди',
  sent: 'передано почтовому серверу',
  refused: 'отклонено, больше не отправляется',
  expired: 'не успело, больше не отправляется',
  retrying: 'не ушло, пробуем ещё',
  paused: 'ждёт: почтовый сервер не принимает имя и пароль',
  limited: 'ждёт: исчерпаны письма этого часа (MAILS_PER_HOUR)',
  slowed: 'ждёт: слишком много адресов, которых нет, письма новым адресам уходят медленно',
}

async function mailLog(
  { config, say }: ContextWithoutWall,
  address: string | undefined,
): Promise<Output> {
  const wall = await openWall(config, say)
  try {
    const mails = await selectMailLog(
      wall.db,
      address === undefined ? undefined : await hashOf(wall.db, config, address),
    )
    return listed(mails.map(lineOf), 'За последние две недели таких писем нет.', mails)
  } finally {
    await wall.close()
  }
}

/** Throws StartError if the secret is not the wall's. */
async function hashOf(db: Db, config: Config, address: string): Promise<Buffer> {
  return hashAddress(address, deriveKey(await readSecret(db, config), MAIL_LOG_KEY))
}

function lineOf({ at, masked, task, outcome, tries, answer, error }: LoggedMail): string {
  const words = answer ?? error
  const said = words === null ? '' : ` — ${printable(words)}`
  return `${time(at)}  ${masked}  ${(KINDS as Record<string, string>)[task] ?? task}  ${OUTCOMES[outcome]}, попыток: ${tries}${said}`
}
