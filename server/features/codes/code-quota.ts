import { AppError } from '../../kernel/errors/app-error.ts'
import { widestNetworkOf } from '../../kernel/limits/network.ts'
import {
  type Charge,
  type Charged,
  chargeAll,
  type Limits,
} from '../../kernel/limits/rate-limits.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'

/** Who asks for a mailbox's code, or enters it, from a browser that never signed in with it. */
type Stranger = { email: string; ip: string }

/** This part of a mailbox's mails is kept for networks not mailed within a day. */
const KEPT_FOR_NEW = 1 / 3
/** This part of the wrong codes is kept for networks that were mailed a code within a day. */
const KEPT_FOR_MAILED = 1 / 2

/** Counts a code mail, for the network only unless the code `isMailed` and is sent again. */
export async function chargeCodeMail(
  { codeMails, networkCodes, mailedNetworks }: CodeLimits,
  { isMailed, ...stranger }: Stranger & { isMailed: boolean },
): Promise<Charged> {
  const { mailbox, network } = keysOf(stranger)
  const isNew = !isMailed && !(await mailedNetworks.isSpent(network))
  const charges: Charge[] = isMailed ? [] : [[networkCodes, network]]
  charges.push([codeMails, mailbox, isNew ? 1 : 1 - KEPT_FOR_NEW])
  const charged = await chargeAll(charges)
  if (isNew) {
    await mailedNetworks.charge(network).catch((error) => {
      // Another request of the network was faster; it was mailed all the same.
      if (error instanceof AppError) return
      charged.refund().catch(() => {})
      throw error
    })
  }
  return charged
}

/** Counts a wrong code before it is compared; a right one is refunded. */
export async function chargeGuess(
  { wrongCodes, wrongCodesOfMailed, mailedNetworks }: CodeLimits,
  stranger: Stranger,
): Promise<Charged> {
  const { mailbox, network } = keysOf(stranger)
  return chargeAll([[wrongCodes, mailbox, 1 - KEPT_FOR_MAILED]]).catch(async (refused) => {
    if (!(refused instanceof AppError) || !(await mailedNetworks.isSpent(network))) throw refused
    const kept: Charge[] = [
      [wrongCodesOfMailed, network],
      [wrongCodes, mailbox],
    ]
    return chargeAll(kept).catch(() => Promise.reject(refused))
  })
}

export type CodeLimits = Pick<
  Limits,
  'codeMails' | 'networkCodes' | 'mailedNetworks' | 'wrongCodes' | 'wrongCodesOfMailed'
>

function keysOf({ email, ip }: Stranger) {
  const mailbox = mailboxOf(email)
  return { mailbox, network: `${mailbox}\n${widestNetworkOf(ip)}` }
}
