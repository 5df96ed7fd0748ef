import { deriveKey } from '../server/kernel/config/app-secret.ts'
import type { Config } from '../server/kernel/config/config.ts'
import type { Db } from '../server/kernel/db/database.ts'
import { formatOperatorTime } from '../server/kernel/errors/words.ts'
import type { LoggedMail } from '../server/kernel/mail/mail-log.repository.ts'
import { MAIL_LOG_KEY, selectMailLog } from '../server/kernel/mail/mail-log.repository.ts'
import { hashAddress } from '../server/kernel/mail/outbox.repository.ts'
import { explainSmtp } from '../server/kernel/mail/smtp-advice.ts'
import { sendTestMail } from '../server/kernel/mail/test-mail.service.ts'
import { readSecret } from '../server/operations/start/installation.ts'
import type { Command, ContextWithoutWall, Output } from './command.ts'
import { listOutput, Refusal, readEmail } from './command.ts'
import { openWall } from './open-wall.ts'

export const mail: Command = {
  summary: 'отправляет пробное письмо и показывает каждый шаг; говорит, что стало с письмами',
  needs: 'settings',
  forms: { 'mail test АДРЕС': testMail, 'mail log [АДРЕС]': mailLog },
}

async function testMail(context: ContextWithoutWall): Promise<Output> {
  const address = readEmail(context.words[0])
  const { smtpUrl } = context.config
  if (smtpUrl === undefined) {
    throw new Refusal('SMTP_URL не задан: письма печатаются и сохраняются в DATA_DIR/mail.')
  }
  if (context.isDryRun) return { lines: [`Письмо для ${address}`], json: { address } }
  const { steps, failure } = await sendTestMail(address, { ...context.config, smtpUrl })
  const lines = steps.map((step) => `✓ ${step}`)
  if (failure) lines.push(`✗ ${failure.message}. ${failure.fix}.`)
  return { lines, json: { steps, failure }, isBroken: failure !== null }
}

/** Names of mails by their task. A mail without a name is shown by its task. */
const KINDS: Record<string, string> = {
  'send-code': 'код',
  'send-sign-in-notice': 'о входе',
  'send-email-notice': 'о смене почты',
  'send-passkey-notice': 'о ключе доступа',
  'send-new-email-notice': 'о смене почты',
  'send-deletion-notice': 'об удалении аккаунта',
  'send-queue-mail': 'модератору',
  'send-refusals-mail': 'об отказах новым адресам',
  'send-decision-mail': 'о решении',
  'send-backup-mail': 'о сбое копий',
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
  slowed: 'ждёт: слишком много адресов, которых нет, или писем для одной сети',
}

async function mailLog({ config, say, words }: ContextWithoutWall): Promise<Output> {
  const address = words[0] === undefined ? undefined : readEmail(words[0])
  await using wall = await openWall(config, say)
  const hash = address === undefined ? undefined : await hashOf(wall.db, config, address)
  const mails = await selectMailLog(wall.db, hash)
  return listOutput(mails.map(mailLine), 'За последние две недели таких писем нет.', mails)
}

/** Returns the hash of an address in the log. Throws StartError if the secret is not the wall's. */
async function hashOf(db: Db, config: Config, address: string): Promise<Buffer> {
  return hashAddress(address, deriveKey(await readSecret(db, config), MAIL_LOG_KEY))
}

function mailLine({ at, masked, task, outcome, tries, answer, error }: LoggedMail): string {
  const words = explainSmtp({ code: error, message: answer ?? error }).message
  const said = words === '' ? '' : ` — ${words}`
  return `${formatOperatorTime(at)}  ${masked}  ${KINDS[task] ?? task}  ${OUTCOMES[outcome]}, попыток: ${tries}${said}`
}
