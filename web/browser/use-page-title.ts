import { useLayoutEffect } from 'react'
import { pageTitle } from '../../contract/pages.ts'
import { createStore, useStore } from './atom.ts'
import { settings } from './page-settings.ts'

const current = createStore<string | undefined>(undefined)

/**
 * Names the page: in the browser's tab and, unless the page itself says it in large letters, in the header. Without a
 * title the header shows none. `tabTitle` names the tab where it has more to say.
 */
export function usePageTitle(
  title: string | undefined,
  where: 'header' | 'tab' = 'header',
  tabTitle = title,
): void {
  useLayoutEffect(() => {
    document.title = pageTitle(tabTitle, settings().appName)
    current.set(where === 'header' ? title : undefined)
    return () => current.set(undefined)
  }, [title, where, tabTitle])
}

/** The title of the page that is shown, for the header. */
export function useCurrentPageTitle(): string | undefined {
  return useStore(current, undefined)
}
