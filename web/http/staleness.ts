import { SAVED_HEADER, SAVED_STATUS } from '../../contract/constants.ts'
import { createAtom } from '../platform/atom.ts'

/** Whether the last read of posts returned stale data. A page rendered by the server sets it. */
export const isStale = createAtom(false)

export function readStaleness(headers: Headers): void {
  const stale = headers.get(SAVED_HEADER)?.includes(SAVED_STATUS) ?? false
  if (stale !== isStale.get()) isStale.set(stale)
}
