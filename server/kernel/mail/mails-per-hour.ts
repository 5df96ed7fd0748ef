import type { Charge, Limit, Limits } from '../limits/limits.ts'
import type { QueuedMail } from './queue-mail.ts'

const HOUR = 3600
/** How much of an hour's mails may be used up when a mail of each kind leaves. */
const SHARES = { security: 1, code: 7 / 8, other: 3 / 4, digest: 1 / 4 }
/** The part of an hour's mails that strangers can cause. */
const NEW_ADDRESSES = 1 / 2
/** After too many refusals, one code to a new address is sent in this many seconds. */
const SLOWED_SECONDS = 10

type Options = {
  limits: Limits
  most: number
  isSlowed: () => Promise<boolean>
  findAskerWait: (asker: string) => Promise<Date | undefined>
  /** Whether a network caused a refused mail within the last hour. */
  hasRefusal: (asker: string) => Promise<boolean>
}

export type Wait = { state: 'limited' | 'slowed'; message: string; againMs: number }

/** Creates the function that counts a mail at its first try, or returns how long it must wait. */
export function createMailLimit({ limits, most, ...refusals }: Options) {
  const { isSlowed, findAskerWait, hasRefusal } = refusals
  const shared = { refusal: '', isShared: true, isFixed: true }
  const mails: Limit = { ...shared, name: 'MAILS_PER_HOUR', rates: [[most, HOUR]] }
  const toNewAddresses: Limit = {
    ...shared,
    name: 'new-address-mail',
    rates: [[most * NEW_ADDRESSES, HOUR]],
  }
  // A right code takes back its other charges, so one network could use up everybody's mails.
  const mostOfAsker = Math.max(60, most / 10)
  const mailsOfAsker: Limit = {
    ...shared,
    name: 'network-mail',
    rates: [[mostOfAsker, HOUR]],
    isFixed: false,
  }
  // It allows no burst, because each refused mail harms the sender's reputation.
  const slowed: Limit = { ...shared, name: 'slowed-mail', rates: [[1, SLOWED_SECONDS]] }
  // One network gets a twelfth of these mails, so that a few networks cannot delay others for long.
  // Networks without a refusal have mails of their own, so that the others cannot delay them at all.
  const slowedOfAsker: Limit = { ...slowed, rates: [[1, 12 * SLOWED_SECONDS]] }

  return async (mail: QueuedMail, tries: number): Promise<Wait | undefined> => {
    const until = mail.isToNewAddress && mail.asker ? await findAskerWait(mail.asker) : undefined
    if (until) {
      const againMs = Math.max(1000, until.getTime() - Date.now())
      return { state: 'slowed', message: 'mail waits: its network had too many refused', againMs }
    }
    // A mail counts once, however often it is tried.
    if (tries > 0) return undefined
    const charges: Charge[] = [{ limit: mails, key: '', share: shareOf(mail) }]
    if (mail.isToNewAddress) charges.push({ limit: toNewAddresses, key: '' })
    if (mail.asker) charges.push({ limit: mailsOfAsker, key: mail.asker })
    if (mail.isToNewAddress && (await isSlowed())) {
      const { asker = '' } = mail
      const key = (await hasRefusal(asker)) ? 'refused' : 'unrefused'
      charges.push({ limit: slowed, key }, { limit: slowedOfAsker, key: asker })
    }
    const refusal = await limits.tryCharge(charges)
    if (!refusal) return undefined
    const againMs = refusal.wait * 1000
    if (refusal.limit === mails || refusal.limit === toNewAddresses) {
      return { state: 'limited', message: 'mail waits: MAILS_PER_HOUR', againMs }
    }
    const isOfAsker = refusal.limit === mailsOfAsker
    const why = isOfAsker ? 'its network has asked for many' : 'too many were refused'
    return { state: 'slowed', message: `mail waits: ${why}`, againMs }
  }
}

function shareOf({ isUrgent, isToNewAddress, isSecurity, isDigest }: QueuedMail): number {
  if (isSecurity) return SHARES.security
  if (isDigest) return SHARES.digest
  return isUrgent && !isToNewAddress ? SHARES.code : SHARES.other
}
