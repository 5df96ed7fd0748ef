import { useLayoutEffect } from 'react'
import { pageTitle } from '../../contract/pages.ts'
import { createAtom, useAtom } from '../platform/atom.ts'
import { settings } from '../session/page-settings.ts'

export const headerTitle = createAtom<string | undefined>(undefined)

/** Sets the title of the tab and, unless `where` is 'tab', of the header. */
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

export function useHeaderTitle(): string | undefined {
  return useAtom(headerTitle, headerTitle.get())
}
