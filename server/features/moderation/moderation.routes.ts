import * as calls from '../../../contract/moderation.ts'
import { parsePostText } from '../../../contract/text.ts'
import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { lockPost } from '../posts/posts.service.ts'
import { removeExpiredBlocks } from './blocks.repository.ts'
import { blockUser, unblockUser } from './blocks.service.ts'
import { decide } from './decisions.service.ts'
import { purgeExpiredPosts, reviewHidden } from './hiding.service.ts'
import { moderationMails } from './moderation.mail.ts'
import { readModeratedPost, readQueue, tellModerators } from './moderation.service.ts'
import { selectEmail } from './moderators.repository.ts'
import {
  insertAppeal,
  isOwnRemovedPost,
  markOutcomesSeen,
  removeOldReports,
  selectOwnRemovedPosts,
  selectOwnReports,
} from './report-states.repository.ts'
import { blockAndRemove, decideAndRemoveRecent } from './wave.service.ts'

/** Allows as many appeals as the list of a user's removed posts shows. */
const APPEALS: Limit = {
  name: 'appeal',
  rates: [[50, 3600]],
  refusal: 'Вы обжаловали много решений: следующее — через {time}',
  isShared: true,
}

export function registerModeration(context: ServerContext): BackgroundWork {
  registerQueue(context)
  registerBlocks(context)
  registerOwn(context)
  const { db, background, config, publishChange } = context
  const { moderatorEmails, reportsToHide } = config
  return {
    jobs: {
      'review-hidden': { run: () => reviewHidden(background, { reportsToHide, publishChange }) },
      'tell-moderators': {
        cron: '*/5 * * * *',
        run: () => db.transaction().execute((tx) => tellModerators(tx, moderatorEmails)),
      },
    },
    mails: moderationMails(db, noticeOptions(config)),
    pruning: [removeExpiredBlocks, removeOldReports, purgeExpiredPosts],
  }
}

async function actorOf(db: Db, { userId }: Viewer): Promise<string> {
  const user = await selectEmail(db, userId)
  if (!user) throw new AppError('NOT_FOUND')
  return user.email
}

function registerQueue(context: ServerContext): void {
  const { route, db, config, publishChange } = context
  route(calls.readQueue, () => readQueue(db))

  route(calls.readModeratedPost, ({ params }) => readModeratedPost(db, params.id))

  route(calls.decide, async ({ params, body, viewer }) => {
    const actor = await actorOf(db, viewer)
    const by = { actor, isModerator: true, removedDays: config.removedDays }
    const decision = { ...body, ...by, postId: params.id }
    const isRemoval = decision.verdict === 'remove'
    if (isRemoval && body.block?.removesRecent) return decideAndRemoveRecent(context, decision)
    await db.transaction().execute((tx) => decide(tx, decision))
    await publishChange({ kind: isRemoval ? 'removed' : 'edited', postId: params.id })
  })
}

function registerBlocks(context: ServerContext): void {
  const { route, db, key } = context
  const nameKey = key('usernames')
  route(calls.blockUser, async ({ params: { id }, body, viewer }) => {
    const { reason, days, removesRecent } = body
    const by = await actorOf(db, viewer)
    const block = { userId: id, reason, days, by }
    if (removesRecent) return blockAndRemove(context, block)
    await db.transaction().execute((tx) => blockUser(tx, block))
  })

  route(calls.unblockUser, async ({ params: { id }, viewer }) => {
    const by = await actorOf(db, viewer)
    await db.transaction().execute((tx) => unblockUser(tx, { userId: id, by, nameKey }))
  })
}

function registerOwn({ route, db, limits, config: { moderatorEmails } }: ServerContext): void {
  route(calls.listOwnReports, async ({ viewer }) => ({
    reports: await selectOwnReports(db, viewer.userId),
  }))

  route(calls.markReportsSeen, ({ viewer }) => markOutcomesSeen(db, viewer.userId))

  route(calls.listOwnRemovedPosts, async ({ viewer }) => ({
    posts: await selectOwnRemovedPosts(db, viewer.userId),
  }))

  route(calls.appeal, async ({ params: { id }, body, viewer: { userId } }) => {
    const text = parsePostText(body.text)
    if (text === null)
      throw new AppError('INVALID_REQUEST', { message: 'Текст — от 1 до 500 видимых символов' })
    await db.transaction().execute(async (tx) => {
      // The lock prevents a restoration after the check, which would leave the appeal open.
      const post = await lockPost(tx, id)
      if (!post || !(await isOwnRemovedPost(tx, id, userId))) throw new AppError('POST_NOT_FOUND')
      const isFirst = await insertAppeal(tx, { postId: id, text })
      if (!isFirst) throw new AppError('ALREADY_APPEALED')
      await limits.charge([{ limit: APPEALS, key: userId }], tx)
      await tellModerators(tx, moderatorEmails)
    })
  })
}
