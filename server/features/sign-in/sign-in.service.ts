import type { CurrentUser } from '../../../contract/account.ts'
import type { Device } from '../../../contract/fields.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { type Charge, type Limit, tooMany } from '../../kernel/limits/limits.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { lockUserByEmail, selectUserByEmail } from '../account/account.repository.ts'
import { requestCharge } from '../codes/code-quota.ts'
import {
  type OperationStart,
  requireSendableEmail,
  startOperation,
} from '../codes/codes.service.ts'
import { isKnownBrowser, lockAndRecognise } from '../sessions/known-clients.repository.ts'
import type { SignInNotice } from './sign-in.mail.ts'

const ACCOUNTS: Limit = {
  name: 'account',
  rates: [
    [40, 3600],
    [120, 86_400],
  ],
  refusal: 'Из вашей сети открыли много аккаунтов: следующий — через {time}',
  isShared: true,
}

type SignInRequest = Omit<OperationStart, 'userId' | 'knownBy' | 'isToNewAddress'> & {
  networkHash: Buffer | null
}

/**
 * Charges the network for a code, unless it is exhausted and the account knows the browser. Returns
 * the charges.
 */
export async function chargeRequest(
  { db, limits }: ServerContext,
  { ip, email, client: { clientHash } }: Pick<OperationStart, 'email' | 'client' | 'ip'>,
): Promise<Charge[]> {
  const charges = [requestCharge(ip)]
  const refusal = await limits.tryCharge(charges)
  if (!refusal) return charges
  // A known browser has few mails of its own, so that neighbours at its address cannot keep it out.
  if (!(await isKnownBrowser(db, { email, clientHash }))) throw tooMany(refusal)
  return []
}

/** Mails a code and returns the operation's id. Throws USER_NOT_FOUND if a login has no account. */
export async function startSignIn(
  context: ServerContext,
  { email, networkHash, ...request }: SignInRequest,
): Promise<string> {
  // A login without an account need not ask the mail server.
  if (request.purpose === 'registration' || (await selectUserByEmail(context.db, email))) {
    await requireSendableEmail(email, context)
  }
  const begin = async (tx: Queryable) => {
    const { clientHash } = request.client
    const user = await lockAndRecognise(tx, { email, clientHash, networkHash })
    if (!user && request.purpose === 'login') throw new AppError('USER_NOT_FOUND')
    // No code is mailed that would be refused in the end.
    const refusal = !user && (await context.limits.findRefusal(accountCharges(request), tx))
    if (refusal) throw tooMany(refusal)
    // The account's own address is used: an address that only compares equal may be another's.
    return {
      ...request,
      email: user?.email ?? email,
      knownBy: user?.knownBy ?? null,
      isToNewAddress: user === undefined,
    }
  }
  return startOperation(context, begin)
}

/** Counts an account of the network. Nothing takes the count back, unlike that of its code. */
export function chargeAccount({ limits }: ServerContext, ip: string, tx: Queryable): Promise<void> {
  return limits.charge(accountCharges({ ip }), tx)
}

const accountCharges = ({ ip }: { ip: string }): Charge[] => [{ limit: ACCOUNTS, ip }]

export const lockAccount = lockUserByEmail

type SignedIn = { device: Device | null; closedOldest: boolean; passkey?: string }

export async function announceSignIn(
  tx: Queryable,
  { email, username }: CurrentUser,
  { device, closedOldest, passkey }: SignedIn,
): Promise<void> {
  const notice: SignInNotice = {
    to: email,
    isSecurity: true,
    username,
    device: nameDevice(device),
    signedInAt: Date.now(),
    closedOldest,
    ...(passkey !== undefined && { passkey }),
  }
  await queueMail(tx, 'send-sign-in-notice', notice)
}
