import * as calls from '../../../contract/passkeys.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { requireOwnOrigin } from '../../kernel/http/headers.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Limit, Limits } from '../../kernel/limits/limits.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import {
  eraseRemovedPasskeys,
  removeExpiredPasskeyOperations,
  selectPasskeys,
} from './passkeys.repository.ts'
import {
  addPasskey,
  removePasskey,
  renamePasskey,
  signInWithPasskey,
  startPasskey,
  startPasskeyLogin,
} from './passkeys.service.ts'
import { siteOf } from './verification.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Each new passkey is mailed. */
const PASSKEY_ADDITIONS: Limit = {
  name: 'passkey-addition',
  rates: [
    [20, HOUR],
    [40, DAY],
  ],
  refusal: 'Вы много раз добавляли ключи доступа: следующий раз — через {time}',
  isShared: true,
}

/** Every page that offers to sign in starts one. */
const PASSKEY_STARTS: Limit = {
  name: 'passkey-start',
  rates: [
    [60, MINUTE],
    [600, HOUR],
  ],
  refusal: 'Из вашей сети слишком часто открывали вход: следующий раз — через {time}',
}

/** As many as codes may be tried. */
const WRONG_PASSKEYS: Limit = {
  name: 'wrong-passkey',
  rates: [
    [20, MINUTE],
    [100, HOUR],
  ],
  refusal: 'Из вашей сети много раз пробовали неверный ключ доступа: следующий раз — через {time}',
  isShared: true,
}

/** Charges only wrong passkeys, so that nobody keeps their neighbours out. */
function chargeIfWrong<T>(limits: Limits, ip: string, attempt: Promise<T>): Promise<T> {
  return attempt.catch(async (error) => {
    const isWrong = error instanceof AppError && error.code === 'INVALID_PASSKEY'
    if (isWrong) await limits.charge([{ limit: WRONG_PASSKEYS, ip }])
    throw error
  })
}

export function registerPasskeys(context: ServerContext, sessions: Sessions): BackgroundWork {
  registerOwnPasskeys(context)
  registerPasskeyLogins(context, sessions)
  return { pruning: [removeExpiredPasskeyOperations, eraseRemovedPasskeys] }
}

function registerOwnPasskeys(context: ServerContext): void {
  const { route, db, limits, config } = context

  route(calls.listPasskeys, async ({ viewer }) => ({
    passkeys: await selectPasskeys(db, viewer.userId),
  }))

  route(calls.startPasskey, async ({ viewer }, { request }) => {
    requireOwnOrigin(request, config.publicUrl)
    await limits.charge([{ limit: PASSKEY_ADDITIONS, key: viewer.userId }])
    return startPasskey(context, viewer, siteOf(request, config.publicUrl))
  })

  route(calls.addPasskey, async ({ params, body, viewer }, { request }) => {
    requireOwnOrigin(request, config.publicUrl)
    const site = siteOf(request, config.publicUrl)
    const addition = { id: params.id, attestation: body, site }
    const added = addPasskey(context, viewer, addition)
    const { passkey, isRepeated } = await chargeIfWrong(limits, request.ip, added)
    const { userId } = viewer
    logEvent(request, isRepeated ? 'answer repeated' : 'passkey added', { userId })
    return passkey
  })

  route(calls.renamePasskey, ({ params, body, viewer }) =>
    renamePasskey(context, viewer, { id: params.id, name: body.name }),
  )

  route(calls.removePasskey, async ({ params, viewer }, { request }) => {
    const { userId } = viewer
    const { isRepeated } = await removePasskey(context, viewer, params.id)
    logEvent(request, isRepeated ? 'answer repeated' : 'passkey removed', { userId })
  })
}

function registerPasskeyLogins(context: ServerContext, sessions: Sessions): void {
  const { route, limits, config, publishChange, recordAccess } = context

  route(calls.startPasskeyLogin, async ({ body }, http) => {
    const { request } = http
    requireOwnOrigin(request, config.publicUrl)
    await limits.charge([{ limit: PASSKEY_STARTS, ip: request.ip }])
    const client = sessions.startingClientOf(body.clientToken, request)
    const site = siteOf(request, config.publicUrl)
    const started = await startPasskeyLogin(context, { client, device: body.device, site })
    sessions.setBrowserOfStart(http, started.id)
    return started
  })

  route(calls.signInWithPasskey, async ({ params: { id }, body }, { request, reply }) => {
    requireOwnOrigin(request, config.publicUrl)
    const { assertion, clientToken, restore = false } = body
    const browser = sessions.browserOf(request, id)
    const attempt = signInWithPasskey(context, sessions, {
      ...{ id, assertion, clientToken, restore, browser },
      client: sessions.clientOf(clientToken, request),
      networkHash: sessions.hashNetwork(request.ip),
      site: siteOf(request, config.publicUrl),
      recordAccess: (tx, userId) => recordAccess?.(tx, { action: 'sign-in', userId, request }),
    })
    const signedIn = await chargeIfWrong(limits, request.ip, attempt)
    if ('refusedFor' in signedIn) {
      const { refusedFor: userId } = signedIn
      logEvent(request, 'passkey refused: it may be a copy', { level: 'warn', userId })
      throw new AppError('INVALID_PASSKEY')
    }
    const { viewer, isBack, isRepeated, isKnownClient, secret } = signedIn
    if (isBack) await publishChange({ kind: 'edited' })
    const event = isRepeated ? 'answer repeated' : isBack ? 'account returned' : 'signed in'
    logEvent(request, event, { userId: viewer.userId, isKnownClient })
    sessions.setCookie(reply, secret)
    sessions.setBrowser(reply, browser)
    return sessions.issueToken(viewer)
  })
}
