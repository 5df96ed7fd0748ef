import { useLayoutEffect } from 'react'
import { pageTitle } from '../../contract/pages.ts'
import { createAtom, useAtom } from './atom.ts'
import { settings } from './page-settings.ts'

/** The title that the header shows. It is set before the first render of a page that the server renders. */
export const headerTitle = createAtom<string | undefined>(undefined)

/**
 * Sets the title of the browser's tab and of the header. `where` is 'tab' for a page that shows its title itself: the
 * header then shows none. `tabTitle` is for a tab that has more to say.
 */
export function usePageTitle(
  title: string | undefined,
  where: 'header' | 'tab' = 'header',
  tabTitle = title,
): void {
  useLayoutEffect(() => {
    document.title = pageTitle(tabTitle, settings().appName)
    headerTitle.set(where === 'header' ? title : undefined)
    return () => headerTitle.set(undefined)
  }, [title, where, tabTitle])
}

/** The title that the header shows for the current page. */
export function useHeaderTitle(): string | undefined {
  return useAtom(headerTitle, headerTitle.get())
}
