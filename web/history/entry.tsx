import {
  addTransitionType,
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { type Page, pageAt, pageTitle } from '../../contract/pages.ts'
import { createAtom } from '../platform/atom.ts'
import { settings } from '../platform/page-settings.ts'
import { currentEntry, type Entry, followLinks, onEntryChange } from './history.ts'
import { comeInSight, returnToPlace } from './scroll-places.ts'

/** The type of transitions in which one page fades into another. */
export const PAGE_FADE = 'page'

const EntryContext = createContext<Entry | null>(null)

/** Provides the current history entry, or `entry` on the server and in tests. */
export function HistoryProvider({ entry, children }: { entry?: Entry; children: ReactNode }) {
  const [shown, setShown] = useState(entry ?? currentEntry)

  useLayoutEffect(() => {
    if (entry) return
    // A transition keeps the page until the next one is rendered.
    const show = () =>
      startTransition(() => {
        // Browsers animate a swipe back themselves.
        if (!currentEntry().isReturn) addTransitionType(PAGE_FADE)
        setShown(currentEntry())
      })
    show()
    return onEntryChange(show)
  }, [entry])
  useLayoutEffect(followLinks, [])
  usePlace(shown)

  return <EntryContext value={shown}>{children}</EntryContext>
}

/**
 * Starts a page that a link has opened at its top, with the focus on its content. Goes on where a
 * page was left that its reader returns to or reloads.
 */
function usePlace({ key, pathname, isReturn }: Entry): void {
  const last = useRef({ key, pathname })

  useLayoutEffect(() => {
    const { key: lastKey, pathname: lastPathname } = last.current
    last.current = { key, pathname }
    comeInSight(key)
    const isFirst = key === lastKey
    if (isReturn) return returnToPlace(key, isFirst ? scrollY : 0)
    if (isFirst) return
    scrollTo(0, 0)
    if (pathname !== lastPathname) focusContent()
  }, [key, pathname, isReturn])
}

export function entryAt(address: string): Entry {
  const { pathname, search, hash } = new URL(address, 'http://localhost')
  return { pathname, search, hash, key: 'default', isReturn: false }
}

/** Returns the current history entry, which stays the same while dialogs open and close. */
export function useEntry(): Entry {
  const entry = useContext(EntryContext)
  if (!entry) throw new Error('No HistoryProvider')
  return entry
}

export function usePage(): Page | null {
  return pageAt(useEntry().pathname)
}

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

export const CONTENT = 'content'

/** Moves the focus to the content before the focused element disappears. Does not scroll. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
