import { OPEN_SITE, SITE_STATE_META, type SiteState } from '../../contract/pages.ts'
import { createAtom, useAtom } from '../platform/atom.ts'

/** Read from the meta element, unless the data of a rendered page sets it. */
export const siteState = createAtom<SiteState>(readMeta())

export function useSiteState(): SiteState {
  return useAtom(siteState, siteState.get())
}

function readMeta(): SiteState {
  if (typeof document === 'undefined') return OPEN_SITE
  const json = document.querySelector(`meta[name="${SITE_STATE_META}"]`)?.getAttribute('content')
  return json ? JSON.parse(json) : OPEN_SITE
}
