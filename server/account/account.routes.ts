import {
  changeUsername,
  readCurrentUser,
  startEmailChange,
  validateUsername,
  verifyEmailChange,
} from '../../contract/account.ts'
import { emailKey, isEmail } from '../../contract/email.ts'
import { usernameProblem } from '../../contract/username.ts'
import { checkCode, spendOperation, startOperation } from '../codes/codes.ts'
import { addJob } from '../db/jobs.ts'
import type { Queryable } from '../db/open.ts'
import { isUniqueViolation } from '../db/violations.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { networkOf } from '../http/limits.ts'
import { type EmailNotice, NOTICE_TTL_MS } from './account.jobs.ts'
import {
  findUserByEmail,
  isUsernameTaken,
  selectUser,
  updateEmail,
  updateUsername,
} from './account.store.ts'
import { isReserved } from './reserved-usernames.ts'

export function registerAccount({ route, db, limits, sessions, codes, changed }: Features): void {
  route(readCurrentUser, ({ viewer }) => selectUser(db, viewer.userId))

  route(validateUsername, async ({ params, viewer }) => {
    await limits.usernameChecks.charge(viewer.userId)
    const { username } = params
    requireAllowed(username)
    if (await isUsernameTaken(db, username, viewer.userId)) {
      throw new AppError('USERNAME_ALREADY_EXISTS')
    }
    return { username, available: true as const }
  })

  route(changeUsername, async ({ body, viewer }) => {
    requireAllowed(body.username)
    const renamed = await updateUsername(db, viewer.userId, body.username).catch(
      takenAs('USERNAME_ALREADY_EXISTS'),
    )
    // The name stands on each of the user's posts.
    if (renamed) await changed('posts')
    return renamed ?? selectUser(db, viewer.userId)
  })

  route(startEmailChange, async ({ body, viewer }, { request }) => {
    if (!isEmail(body.email)) {
      throw new AppError('INVALID_REQUEST', { message: 'Введите корректный email' })
    }
    await limits.emailChanges.charge(viewer.userId)
    await limits.codeRequests.charge(networkOf(request.ip))
    const taken = await findUserByEmail(db, body.email)
    if (taken) throw new AppError('EMAIL_ALREADY_EXISTS')
    const change = {
      purpose: 'email-change',
      email: body.email,
      userId: viewer.userId,
      clientHash: sessions.hashClient(body.clientToken),
      isKnownClient: false,
    } as const
    return { id: await startOperation(db, change, codes) }
  })

  route(verifyEmailChange, async ({ params, body, viewer }, { request }) => {
    await limits.codeChecks.charge(networkOf(request.ip))
    const { userId } = viewer
    const guess = {
      id: params.id,
      purpose: 'email-change',
      userId,
      clientHash: sessions.hashClient(body.clientToken),
      code: body.confirmCode,
    } as const
    const { email } = await checkCode(db, guess, codes)
    await db
      .transaction()
      .execute(async (tx) => {
        await spendOperation(tx, params.id)
        await moveToEmail(tx, userId, email)
      })
      .catch(takenAs('EMAIL_ALREADY_EXISTS'))
    return { email }
  })
}

/** Changes the e-mail and queues a notice to the old address: its owner must hear of a theft. */
async function moveToEmail(tx: Queryable, userId: string, email: string): Promise<void> {
  const { email: old, username } = await selectUser(tx, userId)
  await updateEmail(tx, userId, email)
  if (emailKey(old) === emailKey(email)) return
  const notice: EmailNotice = { to: old, username, expiresAt: Date.now() + NOTICE_TTL_MS }
  await addJob(tx, 'send-email-notice', { payload: notice })
}

function requireAllowed(username: string): void {
  if (usernameProblem(username)) throw new AppError('INVALID_USERNAME')
  if (isReserved(username)) throw new AppError('USERNAME_ALREADY_EXISTS')
}

function takenAs(code: 'USERNAME_ALREADY_EXISTS' | 'EMAIL_ALREADY_EXISTS') {
  return (error: unknown): never => {
    throw isUniqueViolation(error) ? new AppError(code) : error
  }
}
