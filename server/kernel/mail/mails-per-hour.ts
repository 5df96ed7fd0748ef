import type { Pool } from 'pg'
import { countInDatabase } from '../limits/gcra.repository.ts'
import { countInMemory } from '../limits/gcra.ts'
import type { QueuedMail } from './queue-mail.ts'

const HOUR = 3600
/** What may be used of an hour's mails: a flood of one kind leaves the rest to those after it. */
const SHARES = { notice: 1 / 2, codeToNewAddress: 3 / 4, code: 1 }
/** Codes to new addresses leave one in so many seconds once too many mails were refused. */
const SLOWED_SECONDS = 10

type Options = {
  pool: Pool
  most: number
  /** Whether codes to new addresses are slowed. */
  isSlowed: () => Promise<boolean>
  /** Called for an urgent mail over the limit, once an hour at most. */
  onTripped: () => void
}

/** Why a mail has to wait, with the line for the log, and for how long. */
export type Wait = { state: 'limited' | 'slowed'; message: string; againMs: number }

/** Makes the function that counts a mail, unless it has to wait. */
export function limitMailsPerHour({ pool, most, isSlowed, onTripped }: Options) {
  const count = (burst: number, step: number, name: string) =>
    countInDatabase(pool, { burst, step }, () => name)
  const mails = count(most, HOUR / most, 'mails')
  // Without a burst: each refused mail costs some of the sender's good name.
  const slowedMails = count(1, SLOWED_SECONDS, 'slowed mails')
  const trips = countInMemory({ burst: 1, step: HOUR })

  return async (mail: QueuedMail): Promise<Wait | undefined> => {
    const slowed = mail.isToNewAddress && (await isSlowed()) ? slowedMails : undefined
    const pause = (await slowed?.charge('')) ?? 0
    if (pause > 0) {
      const message = 'mail waits: too many were refused'
      return { state: 'slowed', message, againMs: pause * 1000 }
    }
    const wait = await mails.charge('', shareOf(mail))
    if (wait === 0) return undefined
    await slowed?.refund('')
    if (mail.isUrgent && trips.charge('') === 0) onTripped()
    return { state: 'limited', message: 'mail waits: MAILS_PER_HOUR', againMs: wait * 1000 }
  }
}

function shareOf({ isUrgent, isToNewAddress }: QueuedMail): number {
  if (isToNewAddress) return SHARES.codeToNewAddress
  return isUrgent ? SHARES.code : SHARES.notice
}
