import type { Device } from '../../../contract/fields.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { selectUser } from '../account/account.service.ts'
import type { SignInNotice } from './sign-in.mail.ts'

/** A notice that comes later than this is no use any more. */
const NOTICE_MS = 86_400_000

type SignIn = { userId: string; to: string; device: Device | null }

/** Queues the notice that an unknown client has signed in, in the transaction that opens its session. */
export async function announceSignIn(tx: Queryable, signIn: SignIn): Promise<void> {
  const { username } = await selectUser(tx, signIn.userId)
  const signedInAt = Date.now()
  const notice: SignInNotice = {
    to: signIn.to,
    username,
    device: nameDevice(signIn.device),
    signedInAt,
    expiresAt: signedInAt + NOTICE_MS,
  }
  await queueMail(tx, 'send-sign-in-notice', notice)
}
