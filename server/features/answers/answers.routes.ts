import * as calls from '../../../contract/answers.ts'
import { API_PREFIX } from '../../../contract/constants.ts'
import { PATHS } from '../../../contract/pages.ts'
import { readSigned } from '../../kernel/config/app-secret.ts'
import { isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Feature, Node } from '../../kernel/feature.ts'
import { VISITOR_CALLS } from '../../kernel/http/call-limits.ts'
import { mailWords } from '../../kernel/mail/mail-words.ts'
import { readPostRows, receivedBy } from '../posts/post-lists.ts'
import { answerJobs, answerMails } from './answers.mail.ts'
import {
  selectReceived,
  selectSeen,
  setMuted,
  setWantsMail,
  updateSeen,
} from './answers.repository.ts'

const UNSUBSCRIBE_PATH = `${API_PREFIX}/reply-mails/:token`
/** The content types of one-click unsubscription (RFC 8058). */
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
type Mailed = { Params: { token: string } }

export function registerAnswers(node: Node): Feature {
  const { route, http, db, limits, config } = node
  const unsubscribeKey = node.key('unsubscribe')
  route(calls.listReceived, async ({ query, viewer }, { request: { ip } }) => {
    const list = receivedBy(viewer.userId)
    // Read before the list, so that a reply that arrives in between counts as unread.
    const seen = await selectSeen(db, viewer.userId)
    const { rows, ...page } = await readPostRows(db, list, { ...query, ip }, viewer)
    return {
      ...page,
      posts: rows.map(({ key, post }) => ({ ...post, received_no: Number(key) })),
      seen,
    }
  })

  route(calls.readReceived, ({ viewer }) => selectReceived(db, viewer.userId))

  route(calls.markReceived, ({ body, viewer }) => updateSeen(db, viewer.userId, body.seen))

  route(calls.setReplyMails, async ({ body, viewer }) => {
    const isSet = await setWantsMail(db, viewer.userId, body.wantsMail)
    if (!isSet) throw new AppError('UNAUTHORIZED')
  })

  route(calls.mutePost, ({ params, viewer }) => mute(params.id, viewer.userId, true))

  route(calls.unmutePost, ({ params, viewer }) => mute(params.id, viewer.userId, false))

  // A separate plugin context, because no other call accepts a form.
  http.register(async (mails) => {
    mails.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))
    for (const type of FORMS)
      mails.addContentTypeParser(type, { parseAs: 'buffer' }, async () => {})
    mails.post<Mailed>(UNSUBSCRIBE_PATH, async ({ params }, reply) => {
      const userId = readSigned(params.token, unsubscribeKey)
      if (userId === undefined) throw new AppError('NOT_FOUND')
      await setWantsMail(db, userId, false)
      return reply.code(204).send()
    })
    // Some mail programs open the address with GET, which must change nothing.
    mails.get<Mailed>(UNSUBSCRIBE_PATH, (_request, reply) => reply.redirect(PATHS.settings))
  })

  return {
    jobs: answerJobs(node.background),
    mails: answerMails(db, { ...mailWords(config), unsubscribeKey }),
  }

  async function mute(id: string, ownerId: string, isMuted: boolean): Promise<void> {
    const isOwn = isRowId(id) && (await setMuted(db, { id, ownerId }, isMuted))
    if (!isOwn) throw new AppError('POST_NOT_FOUND')
  }
}
