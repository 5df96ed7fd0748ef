import type { FastifyRequest } from 'fastify'
import type { Answer, Input } from '../../../contract/endpoint.ts'
import * as calls from '../../../contract/sign-in.ts'
import { requireOwnOrigin } from '../../kernel/http/headers.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Http } from '../../kernel/http/route.ts'
import { hashNetwork } from '../../kernel/limits/limits.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { AccountAppeared, findOrCreateUser } from '../account/account.service.ts'
import { returnToAccount } from '../account-deletion/account-deletion.service.ts'
import { redeemCode, requireEmail, requireNewEmail } from '../codes/codes.service.ts'
import { inheritBlock } from '../moderation/blocks.service.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import { askerOf, hashAsker } from '../site-state/mail-reputation.service.ts'
import {
  claimRegistration,
  isValidInvitation,
  requireRegistrable,
} from '../site-state/site-state.service.ts'
import type { ReadText } from '../texts/texts.service.ts'
import { signInMails } from './sign-in.mail.ts'
import {
  announceSignIn,
  chargeAccount,
  chargeRequest,
  lockAccount,
  startSignIn,
} from './sign-in.service.ts'

type Purpose = 'login' | 'registration'
type StartInput = Input<typeof calls.startLogin>
type VerifyInput = Input<typeof calls.verifyLogin>

type Parts = { sessions: Sessions; readText: ReadText }

export function registerSignIn(context: ServerContext, parts: Parts): BackgroundWork {
  registerStarts(context, parts.sessions)
  registerVerifications(context, parts)
  return { mails: signInMails(noticeOptions(context.config)) }
}

function registerStarts(context: ServerContext, sessions: Sessions): void {
  const { route, db } = context
  const { contactEmail: contact, publicUrl } = context.config
  const toStart = ({ clientToken, ...body }: StartInput['body'], request: FastifyRequest) => ({
    ...body,
    ip: request.ip,
    client: sessions.startingClientOf(clientToken, request),
    networkHash: sessions.hashNetwork(request.ip),
  })

  route(calls.startRegistration, async ({ body }, http) => {
    const { request } = http
    requireOwnOrigin(request, publicUrl)
    const { ip } = request
    const email = requireNewEmail(body.email)
    const base = toStart({ ...body, email }, request)
    const charges = await chargeRequest(context, base)
    const asker = askerOf(hashAsker(ip, context), context)
    const applicant = { email, ip, invitation: body.invitation, contact }
    const { askerWaitsUntil } = await requireRegistrable(db, applicant, asker)
    const start = { ...base, purpose: 'registration', charges, askerWaitsUntil } as const
    const id = await startSignIn(context, start)
    sessions.setBrowserOfStart(http, id)
    return { id }
  })

  route(calls.validateInvitation, async ({ body }) => ({
    isValid: await isValidInvitation(db, body.invitation),
  }))

  route(calls.startLogin, async ({ body }, http) => {
    const { request } = http
    requireOwnOrigin(request, publicUrl)
    requireEmail(body.email)
    const base = toStart(body, request)
    const charges = await chargeRequest(context, base)
    const id = await startSignIn(context, { ...base, purpose: 'login', charges })
    sessions.setBrowserOfStart(http, id)
    return { id }
  })
}

function registerVerifications(context: ServerContext, { sessions, readText }: Parts): void {
  const { route, db, publishChange, recordAccess, config } = context
  const nameKey = context.key('usernames')

  route(calls.verifyRegistration, (input, http) =>
    verify('registration', { ...input, invitation: input.body.invitation }, http),
  )
  route(calls.verifyLogin, (input, http) => verify('login', input, http))

  async function verify(
    purpose: Purpose,
    { params, body, invitation }: VerifyInput & { invitation?: string | undefined },
    { request, reply }: Http,
  ): Promise<Answer<typeof calls.verifyLogin>> {
    requireOwnOrigin(request, config.publicUrl)
    const { clientToken } = body
    const { ip } = request
    const client = sessions.clientOf(clientToken, request)
    const browser = sessions.browserOf(request, params.id)
    const guess = { id: params.id, purpose, ...client, ip, code: body.confirmCode }
    const { html: consentText } = await readText('consent')
    const { result: opened, isRepeated } = await retryIfAppeared(() =>
      redeemCode(context, guess, {
        lock: lockAccount,
        async redeem(tx, { email, device, account: locked }) {
          const proven = { email, networkHash: hashNetwork(ip, nameKey), consentText, locked }
          const { user, isNew } = await findOrCreateUser(tx, proven, purpose)
          const userId = user.id
          if (isNew) {
            await claimRegistration(tx, { email, ip, invitation, contact: config.contactEmail })
            await inheritBlock(tx, { userId, email }, nameKey)
            await chargeAccount(context, ip, tx)
          }
          const isBack = await returnToAccount(tx, userId, { restore: body.restore ?? false })
          const opened = await sessions.open(tx, {
            operationId: params.id,
            userId,
            clientToken,
            browser,
            networkHash: sessions.hashNetwork(ip),
            device: device ?? UNKNOWN_DEVICE,
          })
          if (!isNew && !opened.isKnownClient) {
            await announceSignIn(tx, user, { device, closedOldest: opened.closedOldest })
          }
          await recordAccess?.(tx, { action: isNew ? 'register' : 'sign-in', userId, request })
          return { isNew, isBack, ...opened }
        },
        toStored: ({ viewer: { userId, sessionId } }) => ({ userId, outcome: { sessionId } }),
        async repeat({ userId, outcome: { sessionId } }) {
          const opened = await sessions.openAgain(db, { userId, sessionId }, params.id)
          return { isNew: false, isBack: false, ...opened }
        },
      }),
    )
    if (opened.isBack) await publishChange({ kind: 'edited' })
    const { userId } = opened.viewer
    const signedIn = opened.isNew ? 'registered' : opened.isBack ? 'account returned' : 'signed in'
    const event = isRepeated ? 'answer repeated' : signedIn
    logEvent(request, event, { userId, isKnownClient: opened.isKnownClient })
    sessions.setCookie(reply, opened.secret)
    sessions.setBrowser(reply, browser)
    return sessions.issueToken(opened.viewer)
  }
}

/** Runs `redeem` again if the account has appeared: then the account is locked first. */
function retryIfAppeared<T>(redeem: () => Promise<T>): Promise<T> {
  return redeem().catch((error) => {
    if (error instanceof AccountAppeared) return redeem()
    throw error
  })
}

const UNKNOWN_DEVICE = { userAgent: '', userAgentVersion: '', os: '' }
