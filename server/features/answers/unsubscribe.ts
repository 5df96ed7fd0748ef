import { replyMailsPath } from '../../../contract/pages.ts'
import { readSignedText, signText } from '../../kernel/config/app-secret.ts'
import type { ServerContext } from '../../kernel/server-context.ts'

export type UnsubscribeLinks = ReturnType<typeof createUnsubscribeLinks>

/** Creates what makes and reads the links by which reply mails are stopped without a sign-in. */
export function createUnsubscribeLinks({ key }: Pick<ServerContext, 'key'>) {
  const secret = key('unsubscribe')
  return {
    pathFor: (userId: string) => replyMailsPath({ name: 'ask', token: signText(userId, secret) }),
    /** Returns the id of the user; undefined if the token is forged or of a former APP_SECRET. */
    userOf: (token: string) => readSignedText(token, secret),
  }
}
