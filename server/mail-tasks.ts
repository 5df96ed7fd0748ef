import { type EmailNotice, writeEmailNotice } from './features/account/account.mail.ts'
import {
  type DeletionNotice,
  writeDeletionNotice,
} from './features/account-deletion/account-deletion.mail.ts'
import { type CodeMail, writeCodeMail } from './features/codes/codes.mail.ts'
import { storeMailState } from './features/codes/codes.repository.ts'
import {
  type BlockMail,
  type DecisionMail,
  type QueueMail,
  writeBlockMail,
  writeDecisionMail,
  writeQueueMail,
} from './features/moderation/moderation.mail.ts'
import { countWaiting } from './features/moderation/queue.repository.ts'
import { type SignInNotice, writeSignInNotice } from './features/sign-in/sign-in.mail.ts'
import { type Config, originOf } from './kernel/config/config.ts'
import type { Db } from './kernel/db/database.ts'
import type { MailKind } from './kernel/mail/send-mails.ts'

type Options = {
  config: Config
  codeKey: Buffer
  undoKey: Buffer
  db: Db
}

/** The name of a kind of mail. */
export type MailTask = keyof ReturnType<typeof createMailKinds>

/** Every kind of mail by its name. */
export function createMailKinds({ config, codeKey: key, undoKey, db }: Options) {
  const { appName, contactEmail: contact, codeTtlSeconds: ttlSeconds } = config
  const words = { appName, origin: originOf(config), contact }
  const code: MailKind<CodeMail> = {
    write: (mail, leftMs) => writeCodeMail(mail, { ...words, key, ttlSeconds, leftMs }),
    settled: (tx, { operationId }, state) => storeMailState(tx, operationId, { state, ttlSeconds }),
  }
  return {
    'send-code': code,
    'send-sign-in-notice': { write: (mail: SignInNotice) => writeSignInNotice(mail, words) },
    'send-email-notice': {
      write: (mail: EmailNotice) => writeEmailNotice(mail, { ...words, undoKey }),
    },
    'send-deletion-notice': { write: (mail: DeletionNotice) => writeDeletionNotice(mail, words) },
    'send-queue-mail': {
      write: async (mail: QueueMail) => writeQueueMail(mail, await countWaiting(db), words),
    },
    'send-decision-mail': { write: (mail: DecisionMail) => writeDecisionMail(mail, words) },
    'send-block-mail': { write: (mail: BlockMail) => writeBlockMail(mail, words) },
  }
}
