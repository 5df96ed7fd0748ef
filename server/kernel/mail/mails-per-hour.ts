import type { Pool } from 'pg'
import { countInDatabase } from '../limits/gcra.repository.ts'
import { countInMemory } from '../limits/gcra.ts'

const HOUR = 3600
/** The share of the hour's mails that others may use, so that no flood of notices keeps people from signing in. */
const NOT_URGENT = 3 / 4

type Options = {
  pool: Pool
  /** How many mails an hour all nodes send together. */
  most: number
  /** Called for an urgent mail that is over the limit, once an hour at most. */
  onTripped: () => void
}

/** Makes the function that counts a mail. It returns 0, or the milliseconds to wait. */
export function limitMailsPerHour({ pool, most, onTripped }: Options) {
  const mails = countInDatabase(pool, { burst: most, step: HOUR / most }, () => 'mails')
  const trips = countInMemory({ burst: 1, step: HOUR })

  return async (isUrgent: boolean): Promise<number> => {
    const wait = await mails.charge('', isUrgent ? 1 : NOT_URGENT)
    if (wait > 0 && isUrgent && trips.charge('') === 0) onTripped()
    return wait * 1000
  }
}
