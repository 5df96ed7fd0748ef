import { OPEN_SITE, SITE_STATE_META, type SiteState } from '../../contract/pages.ts'
import { createAtom, useAtom } from '../platform/atom.ts'
import { readMeta } from '../platform/page-settings.ts'

/** The state of the site, from the meta element or from the data of a rendered page. */
export const siteState = createAtom<SiteState>(readState())

export function useSiteState(): SiteState {
  return useAtom(siteState)
}

function readState(): SiteState {
  const json = readMeta(SITE_STATE_META)
  return json ? JSON.parse(json) : OPEN_SITE
}
