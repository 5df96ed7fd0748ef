import type { accountMails } from '../server/features/account/account.mail.ts'
import type { accountDeletionMails } from '../server/features/account-deletion/account-deletion.mail.ts'
import type { answerMails } from '../server/features/answers/answers.mail.ts'
import type { codeMails } from '../server/features/codes/codes.mail.ts'
import type { moderationMails } from '../server/features/moderation/moderation.mail.ts'
import type { signInMails } from '../server/features/sign-in/sign-in.mail.ts'
import type { mailNameMails } from '../server/features/site-state/mail-name.mail.ts'
import type { LoggedMail } from '../server/kernel/mail/mail-log.repository.ts'
import { readMailLog } from '../server/operations/status/mail-log.ts'
import type { ContextWithoutWall, Output } from './command.ts'
import { printable, time } from './format.ts'
import { openWall } from './open-wall.ts'

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

export async function mailLog(
  { config, say }: ContextWithoutWall,
  address: string | undefined,
): Promise<Output> {
  const wall = await openWall(config, say)
  try {
    const mails = await readMailLog(wall.db, config, address)
    const nothing = 'За последние две недели таких писем нет.'
    return { lines: mails.length > 0 ? mails.map(lineOf) : [nothing], json: mails }
  } finally {
    await wall.close()
  }
}

function lineOf({ at, masked, task, outcome, tries, answer, error }: LoggedMail): string {
  const words = answer ?? error
  const said = words === null ? '' : ` — ${printable(words)}`
  return `${time(at)}  ${masked}  ${(KINDS as Record<string, string>)[task] ?? task}  ${OUTCOMES[outcome]}, попыток: ${tries}${said}`
}
