import { UNREAD_MAX } from '../../../contract/constants.ts'
import { PATHS } from '../../../contract/pages.ts'
import type { Db } from '../../kernel/db/database.ts'
import { type Line, writeMail } from '../../kernel/mail/mail-body.ts'
import type { MailOptions } from '../../kernel/mail/mail-words.ts'
import { type QueuedMail, queueMail } from '../../kernel/mail/queue-mail.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { claimReplyMails, type ReplyToMail, selectRepliesToMail } from './answers.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe.ts'

/** A queued mail about what a user received after `afterNo` and has not seen. */
export type ReplyMail = QueuedMail & {
  userId: string
  afterNo: string
  /** Whether it is the last such mail until the user visits. */
  isLast: boolean
}

const STEP = 200

export const answerJobs = (db: Db): Jobs => ({
  'mail-replies': {
    cron: '*/10 * * * *',
    async run() {
      while ((await queueReplyMails(db)) === STEP);
    },
  },
})

async function queueReplyMails(db: Db): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const due = await claimReplyMails(tx, STEP)
    for (const { email, ...rest } of due) {
      const mail: ReplyMail = { to: email, isDigest: true, key: `replies ${rest.userId}`, ...rest }
      await queueMail(tx, 'send-reply-mail', mail)
    }
    return due.length
  })
}

type WriteOptions = MailOptions & { unsubscribe: UnsubscribeLinks }

const SHOWN = 5

type Words = { subject: string; sentence: string; others: string }

/** Returns the subject, the first sentence, and the word for those that the mail does not show. */
function wordsFor(replies: ReplyToMail[], appName: string): Words {
  const site = `на сайте «${appName}»`
  const subject = 'Вам ответили'
  if (replies.every(({ isMention }) => !isMention)) {
    return { subject, sentence: `На ваши записи ${site} ответили.`, others: 'ответов' }
  }
  if (replies.every(({ isMention }) => isMention)) {
    const mentioned = 'Вас упомянули'
    return { subject: mentioned, sentence: `${mentioned} ${site}.`, others: 'упоминаний' }
  }
  const sentence = `На ваши записи ${site} ответили, и вас упомянули.`
  return { subject, sentence, others: 'ответов и упоминаний' }
}

export const answerMails = (db: Db, options: WriteOptions) => ({
  'send-reply-mail': {
    write: async (mail: ReplyMail) => {
      const replies = await selectRepliesToMail(db, mail)
      return replies.length > 0 ? writeReplyMail(mail, replies, options) : null
    },
  },
})

function writeReplyMail(
  { to, userId, isLast }: ReplyMail,
  replies: ReplyToMail[],
  options: WriteOptions,
): Mail {
  const { appName, origin, unsubscribe } = options
  const unsubscribeUrl = origin + unsubscribe.pathFor(userId)
  const more = replies.length - SHOWN
  const { subject, sentence, others } = wordsFor(replies, appName)
  const lines: Line[] = [
    sentence,
    ...replies
      .slice(0, SHOWN)
      .flatMap((reply) => ['', `${reply.username}:`, { quote: reply.text }]),
    ...(more > 0
      ? ['', `И ещё ${others}: ${more}${replies.length === UNREAD_MAX ? ' или больше' : ''}.`]
      : []),
    '',
    `Прочитать и ответить: ${origin}${PATHS.received}`,
    '',
    'Такое письмо приходит не чаще раза в день.',
    `Больше не присылать: ${unsubscribeUrl}`,
    ...(isLast
      ? ['', 'Вы давно не заходили, поэтому до вашего возвращения писем больше не будет.']
      : []),
  ]
  return { ...writeMail({ to, subject }, lines, options), unsubscribeUrl }
}
