import type { QueuedPost } from '../../../contract/moderation.ts'
import { decide as decideAny } from '../../features/moderation/decisions.service.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'
import { passTime } from '../database/passing-time.ts'
import type { TestAnswer, TestUser } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'

export async function signUpModerator(app: TestApp): Promise<TestUser> {
  const user = await app.signUp()
  await app.sql`INSERT INTO moderators (email, email_key)
    VALUES (${user.email}, ${emailKey(user.email)})`
  return user
}

/** Reports of accounts that are two days old count for hiding. */
export async function signUpOld(app: TestApp, count: number): Promise<TestUser[]> {
  const users = await Promise.all(Array.from({ length: count }, () => app.signUp()))
  await app.sql`UPDATE users SET created_at = created_at - interval '2 days'`
  return users
}

export function report(
  app: TestApp,
  { token }: TestUser,
  { postId, reasonId = '1', comment }: { postId: string; reasonId?: string; comment?: string },
): Promise<TestAnswer> {
  const path = `/posts/${postId}/reports?reason_id=${reasonId}`
  return app.call('POST', path, { token, ...(comment !== undefined && { body: { comment } }) })
}

export async function readQueue(app: TestApp, moderator: TestUser): Promise<QueuedPost[]> {
  return (await app.read('/moderation/queue', moderator)).posts
}

export function decide(
  app: TestApp,
  { token }: TestUser,
  { postId, ...body }: { postId: string; verdict: 'remove' | 'keep' } & Record<string, unknown>,
): Promise<TestAnswer> {
  return app.call('POST', `/moderation/posts/${postId}/decision`, { token, body })
}

/** Brings a post back as the operator's command does: any post, also without an appeal. */
export async function restore({ db }: TestApp, postId: string): Promise<void> {
  const about = { postId, verdict: 'keep', isAnyPost: true } as const
  const decision = { ...about, actor: 'operator', removedDays: 30 }
  await db.transaction().execute((tx) => decideAny(tx, decision))
}

/** Makes every report, appeal and mail to moderators so many seconds older. */
export async function passReportTime({ db }: TestApp, seconds: number): Promise<void> {
  await passTime(db, seconds, 'reports', 'created_at', 'decided_at')
  await passTime(db, seconds, 'appeals', 'created_at')
  await passTime(db, seconds, 'moderator_mails', 'mailed_at')
}
