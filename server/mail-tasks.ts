import { type EmailNotice, sendEmailNotice } from './account/account.mail.ts'
import {
  type DeletionNotice,
  sendDeletionNotice,
} from './account-deletion/account-deletion.mail.ts'
import { type CodeMail, sendCodeMail } from './codes/codes.mail.ts'
import { storeMailOutcome } from './codes/codes.repository.ts'
import { type Config, originOf } from './config.ts'
import type { QueuedMail } from './mail/queue-mail.ts'
import { type Delivery, type Sender, sendUntilExpired } from './mail/send-mail.task.ts'
import type { MailTransport } from './mail/transport.ts'
import {
  type BlockMail,
  type DecisionMail,
  type QueueMail,
  sendBlockMail,
  sendDecisionMail,
  sendQueueMail,
} from './moderation/moderation.mail.ts'
import { countWaiting } from './moderation/queue.repository.ts'
import type { JobTasks } from './queue/queue.ts'
import { type SignInNotice, sendSignInNotice } from './sign-in/sign-in.mail.ts'

type Options = {
  config: Pick<Config, 'appName' | 'publicUrl' | 'port' | 'contactEmail' | 'codeTtlSeconds'>
  codeKey: Buffer
  undoKey: Buffer
  transport: MailTransport
  delivery: Delivery
}

/** The name of a job that sends a mail. */
export type MailTask = keyof ReturnType<typeof createMailTasks>

/** Every job that sends a mail by its name. Commands count mails by `send-`, with which these names begin. */
export function createMailTasks({ config, codeKey, undoKey, transport, delivery }: Options) {
  const { appName, contactEmail: contact, codeTtlSeconds: ttlSeconds } = config
  const { db } = delivery
  const words = { appName, origin: originOf(config), transport }
  const notice = { contact, ...words }
  return {
    ...sending('send-code', {
      send: (mail: CodeMail, attempt) =>
        sendCodeMail(mail, { key: codeKey, ttlSeconds, ...words, ...attempt }),
      onOutcome: (mail, outcome) => storeMailOutcome(db, mail.operationId, { outcome, ttlSeconds }),
    }),
    ...sending('send-sign-in-notice', {
      send: (mail: SignInNotice, { signal }) => sendSignInNotice(mail, signal, notice),
    }),
    ...sending('send-email-notice', {
      send: (mail: EmailNotice, { signal }) =>
        sendEmailNotice(mail, signal, { undoKey, ...notice }),
    }),
    ...sending('send-deletion-notice', {
      send: (mail: DeletionNotice, { signal }) => sendDeletionNotice(mail, signal, notice),
    }),
    ...sending('send-queue-mail', {
      send: async (mail: QueueMail, { signal }) =>
        sendQueueMail({ ...mail, waiting: await countWaiting(db) }, signal, words),
    }),
    ...sending('send-decision-mail', {
      send: (mail: DecisionMail, { signal }) => sendDecisionMail(mail, signal, notice),
    }),
    ...sending('send-block-mail', {
      send: (mail: BlockMail, { signal }) => sendBlockMail(mail, signal, notice),
    }),
  }

  function sending<Task extends string, M extends QueuedMail>(task: Task, sender: Sender<M>) {
    const job: JobTasks[string] = sendUntilExpired(task, sender, delivery)
    return { [task]: job } as Record<Task, typeof job>
  }
}
