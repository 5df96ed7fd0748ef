import { useLayoutEffect, useSyncExternalStore } from 'react'
import { pageTitle } from '../../contract/pages.ts'
import { settings } from './settings.ts'

let current: string | undefined
const listeners = new Set<() => void>()

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
    setCurrent(where === 'header' ? title : undefined)
    return () => setCurrent(undefined)
  }, [title, where, tabTitle])
}

/** The title of the page that is shown, for the header. */
export function useCurrentPageTitle(): string | undefined {
  return useSyncExternalStore(
    subscribe,
    () => current,
    () => undefined,
  )
}

function setCurrent(title: string | undefined): void {
  current = title
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
