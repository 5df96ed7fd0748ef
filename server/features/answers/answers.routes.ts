import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ReceivedRepliesPage } from '../../../contract/answers.ts'
import * as calls from '../../../contract/answers.ts'
import { API_PREFIX } from '../../../contract/constants.ts'
import type { PageQuery } from '../../../contract/fields.ts'
import { PATHS, replyMailsIn, replyMailsPath } from '../../../contract/pages.ts'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { VISITOR_CALLS } from '../../kernel/http/call-limits.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { readPostRows, receivedRepliesOf } from '../posts/post-lists.ts'
import { answerJobs, answerMails } from './answers.mail.ts'
import {
  selectMentionNos,
  selectReplySummary,
  selectSeenNo,
  setPostMuted,
  setWantsMail,
  updateSeenNo,
} from './answers.repository.ts'
import { createUnsubscribeLinks } from './unsubscribe.ts'

/** The address in the headers of mails up to 1.0.0. */
const FORMER_PATH = `${API_PREFIX}/reply-mails/:token`
/** The content types of one-click unsubscription (RFC 8058), and of the form on the page. */
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
type FormerLinkRequest = { Params: { token: string } }

export function registerAnswers(context: ServerContext): BackgroundWork {
  const { route, http, db, limits, config } = context
  const unsubscribe = createUnsubscribeLinks(context)
  route(calls.listReceivedReplies, ({ query, viewer }, { request: { ip } }) =>
    readReceived(db, { ...query, ip }, viewer),
  )

  route(calls.readReplySummary, ({ viewer }) => selectReplySummary(db, viewer.userId))

  route(calls.markRepliesSeen, ({ body, viewer }) => updateSeenNo(db, viewer.userId, body.seen))

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
    mails.post(PATHS.replyMails, ({ url, headers }, reply) => {
      const state = replyMailsIn(url.split('?')[1] ?? '')
      const token = state.name === 'ask' ? state.token : ''
      return stopMails(token, { isPage: isBrowserForm(headers), reply })
    })
    mails.post<FormerLinkRequest>(FORMER_PATH, ({ params: { token }, headers }, reply) =>
      stopMails(token, { isPage: isBrowserForm(headers), reply }),
    )
    mails.get<FormerLinkRequest>(FORMER_PATH, ({ params: { token } }, reply) =>
      reply.redirect(replyMailsPath({ name: 'ask', token })),
    )
  })

  return {
    jobs: answerJobs(context.background),
    mails: answerMails(db, { ...noticeOptions(config), unsubscribe }),
  }

  async function stopMails(
    token: string,
    { isPage, reply }: { isPage: boolean; reply: FastifyReply },
  ): Promise<FastifyReply> {
    const userId = unsubscribe.userOf(token)
    if (userId !== undefined) await setWantsMail(db, userId, false)
    else if (!isPage) throw new AppError('NOT_FOUND')
    if (!isPage) return reply.code(204).send()
    const name = userId === undefined ? 'invalid' : 'stopped'
    return reply.redirect(replyMailsPath({ name }), 303)
  }

  async function mute(id: string, ownerId: string, isMuted: boolean): Promise<void> {
    const isOwn = isRowId(id) && (await setPostMuted(db, { id, ownerId }, isMuted))
    if (!isOwn) throw new AppError('POST_NOT_FOUND')
  }
}

async function readReceived(
  db: Queryable,
  query: PageQuery & { ip: string },
  viewer: Viewer,
): Promise<ReceivedRepliesPage> {
  // Read before the list, so that what arrives in between counts as unread.
  const seen = await selectSeenNo(db, viewer.userId)
  const { rows, ...page } = await readPostRows(db, receivedRepliesOf(viewer.userId), query, viewer)
  const numbers = rows.map(({ key }) => key)
  const mentions = await selectMentionNos(db, viewer.userId, numbers)
  const posts = rows.map(({ key, post }) => ({
    ...post,
    received_no: Number(key),
    ...(mentions.has(key) && { is_mention: true as const }),
  }))
  return { ...page, posts, seen }
}

/** Returns whether a browser submits the form, and not a mail program by itself. */
function isBrowserForm({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/html')
}
