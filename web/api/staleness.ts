import { SAVED_HEADER, SAVED_STATUS } from '../../contract/constants.ts'
import { createAtom } from '../browser/atom.ts'

/**
 * Whether posts were last read as the server had saved them earlier, because it could not read them anew. A rendered page
 * sets it from its own data.
 */
export const isStale = createAtom(false)

/** Notes from the headers of an answered read of posts whether it was saved. */
export function readStaleness(headers: Headers): void {
  const isSaved = headers.get(SAVED_HEADER)?.includes(SAVED_STATUS) ?? false
  if (isSaved !== isStale.get()) isStale.set(isSaved)
}
