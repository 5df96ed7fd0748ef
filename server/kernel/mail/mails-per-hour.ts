import type { Pool } from 'pg'
import { countInDatabase } from '../limits/gcra.repository.ts'
import { countInMemory } from '../limits/gcra.ts'

const HOUR = 3600
/** What notices may use of an hour's mails, so that a flood of them stops no code. */
const NOT_URGENT = 3 / 4

type Options = {
  pool: Pool
  most: number
  /** Called for an urgent mail over the limit, once an hour at most. */
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
