import { OPEN_SITE, SITE_STATE_META, type SiteState } from '../../contract/pages.ts'
import { createAtom, useAtom } from '../platform/atom.ts'
import { readMeta } from '../platform/page-settings.ts'

/** The state of the site, from the meta element or from the data of a rendered page. */
export const siteState = createAtom<SiteState>(readState())

export function useSiteState(): SiteState {
  return useAtom(siteState)
}

/** Returns whether a name is marked as a moderator's, which tells it from names that sound so. */
export function useIsModerator(userId: string): boolean {
  return useSiteState().moderators?.includes(userId) ?? false
}

function readState(): SiteState {
  const json = readMeta(SITE_STATE_META)
  return json ? JSON.parse(json) : OPEN_SITE
}
