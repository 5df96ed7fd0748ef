import * as calls from '../../../contract/account.ts'
import { usernameProblem } from '../../../contract/account-rules.ts'
import { isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { isUniqueViolation } from '../../kernel/db/database-errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { cancelDeletion } from '../account-deletion/account-deletion.service.ts'
import { requestCharge } from '../codes/code-quota.ts'
import {
  redeemCode,
  requireNewEmail,
  requireSendableEmail,
  startOperation,
} from '../codes/codes.service.ts'
import { lockViewer, type Sessions } from '../sessions/sessions.service.ts'
import { askerOf, findAskerWait, hashAsker } from '../site-state/mail-reputation.service.ts'
import { accountMails, undoSecret } from './account.mail.ts'
import { removeExpiredAccountRows, selectUser, selectUserByEmail } from './account.repository.ts'
import {
  changeEmail,
  hashUsername,
  readAccount,
  readOwnAccount,
  renameUser,
  requireProfile,
  undoEmailChange,
} from './account.service.ts'
import { isReserved } from './reserved-usernames.ts'
import { isUsernameTaken } from './usernames.repository.ts'

const OLD_EMAIL_TAKEN =
  'С прежней почтой теперь есть другой аккаунт. Войдите в него, смените его почту и откройте ссылку ещё раз'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

const USERNAME_CHECKS: Limit = {
  name: 'username-check',
  rates: [[20, MINUTE]],
  refusal: 'Вы проверили много имён подряд: следующее — через {time}',
}

const USERNAME_CHANGES: Limit = {
  name: 'username-change',
  rates: [[3, DAY]],
  refusal: 'Имя недавно меняли: следующий раз — через {time}',
  isShared: true,
}

const EMAIL_CHANGES: Limit = {
  name: 'email-change',
  rates: [
    [5, HOUR],
    [15, DAY],
  ],
  refusal: 'Вы много раз пробовали сменить почту: следующая попытка — через {time}',
  isShared: true,
}

const EMAIL_UNDOS: Limit = {
  name: 'email-undo',
  rates: [[20, MINUTE]],
  refusal: 'Из вашей сети открыли много таких ссылок: следующая — через {time}',
}

export function registerAccount(context: ServerContext, sessions: Sessions): BackgroundWork {
  const { route, db } = context
  const undoKey = context.key('email-undo')
  route(calls.readCurrentUser, ({ viewer }) => readOwnAccount(db, viewer.userId))
  route(calls.readProfile, ({ params }) => requireProfile(db, params.username))
  registerUsernames(context)
  registerEmailChanges(context, sessions)
  registerEmailUndo(context, undoKey)
  return {
    mails: accountMails({ ...noticeOptions(context.config), undoKey }),
    pruning: [removeExpiredAccountRows],
  }
}

function registerUsernames({ route, db, limits, key, publishChange }: ServerContext): void {
  const nameKey = key('usernames')

  route(calls.validateUsername, async ({ params: { username }, viewer }) => {
    await limits.charge([{ limit: USERNAME_CHECKS, key: viewer.userId }])
    await requireFreeUsername(db, username, { user: await selectUser(db, viewer.userId), nameKey })
    return { username, available: true as const }
  })

  route(calls.changeUsername, async ({ body: { username }, viewer }) => {
    const user = await selectUser(db, viewer.userId)
    if (username === user.username) return readAccount(db, user.id)
    await requireFreeUsername(db, username, { user, nameKey })
    const renamed = await db
      .transaction()
      .execute(async (tx) => {
        await lockViewer(tx, viewer)
        await renameUser(tx, { userId: user.id, username, nameKey })
        // Charged last and in `tx`, so that only a successful change counts towards the limit.
        await limits.charge([{ limit: USERNAME_CHANGES, key: user.id }], tx)
        return readAccount(tx, user.id)
      })
      .catch(throwTakenAs('USERNAME_ALREADY_EXISTS'))
    await publishChange({ kind: 'edited' })
    return renamed
  })
}

function registerEmailChanges(context: ServerContext, sessions: Sessions): void {
  const { route, db, limits } = context

  route(calls.startEmailChange, async ({ body, viewer }, http) => {
    const { request } = http
    const { ip } = request
    const email = requireNewEmail(body.email)
    const charges = [requestCharge(ip)]
    await limits.charge([...charges, { limit: EMAIL_CHANGES, key: viewer.userId }])
    await requireSendableEmail(email, context)
    if (await selectUserByEmail(db, email)) throw new AppError('EMAIL_ALREADY_EXISTS')
    const client = sessions.startingClientOf(body.clientToken, request)
    const askerWaitsUntil = await findAskerWait(db, askerOf(hashAsker(ip, context), context))
    const begin = async (tx: Queryable) => {
      const { id: userId } = await lockViewer(tx, viewer)
      const purpose = 'email-change' as const
      const recognition = { knownBy: null, isToNewAddress: true, askerWaitsUntil }
      return { purpose, email, userId, client, ip, charges, ...recognition }
    }
    const id = await startOperation(context, begin)
    sessions.setBrowserOfStart(http, id)
    return { id }
  })

  route(calls.verifyEmailChange, async ({ params, body, viewer }, { request }) => {
    const { userId } = viewer
    const client = sessions.clientOf(body.clientToken, request)
    const guess = { id: params.id, userId, ...client, ip: request.ip, code: body.confirmCode }
    const { result: email, isRepeated } = await redeemCode(
      context,
      { ...guess, purpose: 'email-change' },
      {
        lock: (tx) => lockViewer(tx, viewer),
        async redeem(tx, { email, account }) {
          await changeEmail(tx, account, email)
          return email
        },
        toStored: (email) => ({ userId, outcome: { email } }),
        async repeat({ outcome: { email } }) {
          const account = await selectUser(db, userId)
          if (account.email !== email) throw new AppError('OPERATION_EXPIRED')
          return email
        },
      },
    ).catch(throwTakenAs('EMAIL_ALREADY_EXISTS'))
    logEvent(request, isRepeated ? 'answer repeated' : 'e-mail changed', { userId })
    return { email }
  })
}

function registerEmailUndo(context: ServerContext, undoKey: Buffer): void {
  const { route, db, limits, publishChange } = context

  route(calls.undoEmailChange, async ({ params, body }, { request }) => {
    await limits.charge([{ limit: EMAIL_UNDOS, ip: request.ip }])
    const right = undoSecret(params.id, undoKey)
    if (!isSameSecret(body.secret, right)) throw new AppError('LINK_EXPIRED')
    const { userId, isRepeated, isBack } = await db
      .transaction()
      .execute(async (tx) => {
        const undone = await undoEmailChange(tx, params.id)
        // A deletion that is in force now came after the change, so the undo takes it back too.
        const isBack = !undone.isRepeated && (await cancelDeletion(tx, undone.userId))
        return { ...undone, isBack }
      })
      .catch(throwTakenAs('EMAIL_ALREADY_EXISTS', { message: OLD_EMAIL_TAKEN }))
    if (isBack) await publishChange({ kind: 'edited' })
    logEvent(request, isRepeated ? 'answer repeated' : 'e-mail change undone', { userId })
  })
}

/** Throws INVALID_USERNAME or USERNAME_ALREADY_EXISTS. A user's own name is always free. */
async function requireFreeUsername(
  db: Queryable,
  username: string,
  { user, nameKey }: { user: calls.CurrentUser; nameKey: Buffer },
): Promise<void> {
  if (usernameProblem(username)) throw new AppError('INVALID_USERNAME')
  if (username.toLowerCase() === user.username.toLowerCase()) return
  const wish = { username, userId: user.id, nameHash: hashUsername(username, nameKey) }
  if (isReserved(username) || (await isUsernameTaken(db, wish))) {
    throw new AppError('USERNAME_ALREADY_EXISTS')
  }
}

/** Creates a handler that replaces a unique violation by an error with this code. */
function throwTakenAs(
  code: 'USERNAME_ALREADY_EXISTS' | 'EMAIL_ALREADY_EXISTS',
  details?: { message: string },
) {
  return (error: unknown): never => {
    throw isUniqueViolation(error) ? new AppError(code, details) : error
  }
}
