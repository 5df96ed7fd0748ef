import type { Db } from '../../kernel/db/database.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import type { ReplyMail } from './answers.mail.ts'
import { claimReplyMails } from './reply-mails.repository.ts'

const STEP = 200
const MAIL_LIFE_MS = 86_400_000

export function answerJobs(db: Db): Jobs {
  return {
    'mail-replies': {
      everyMinutes: 10,
      async run() {
        while ((await queueReplyMails(db)) === STEP);
      },
    },
  }
}

async function queueReplyMails(db: Db): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const due = await claimReplyMails(tx, STEP)
    for (const { email, ...rest } of due) {
      const mail: ReplyMail = { to: email, expiresAt: Date.now() + MAIL_LIFE_MS, ...rest }
      await queueMail(tx, 'send-reply-mail', { ...mail, key: `replies ${rest.userId}` })
    }
    return due.length
  })
}
