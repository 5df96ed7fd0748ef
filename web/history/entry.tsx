import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { type Page, pageAt } from '../../contract/pages.ts'
import { useAtom } from '../platform/atom.ts'
import { currentEntry, type Dialog, type Entry, onEntryChange, openedDialog } from './history.ts'

const SLIDE = { duration: 150, easing: 'ease-out' }

const EntryContext = createContext<Entry | null>(null)

/** Provides the entry of the history that is shown; on the server and in tests a given one. */
export function HistoryProvider({ entry, children }: { entry?: Entry; children: ReactNode }) {
  const [shown, setShown] = useState(entry ?? currentEntry)
  const cardTop = useRef<number>(undefined)

  useLayoutEffect(() => slideFrom(cardTop.current, articleIn(shown)), [shown])

  useLayoutEffect(() => {
    if (entry) return
    const show = () => {
      const next = currentEntry()
      cardTop.current = articleIn(next)?.getBoundingClientRect().top
      // As a transition: the page stays until the next one is rendered.
      startTransition(() => setShown(next))
    }
    show()
    return onEntryChange(show)
  }, [entry])

  return <EntryContext value={shown}>{children}</EntryContext>
}

/** The post that an entry opens: its card in a list, and then the article of its page. */
function articleIn({ isReturn, pathname }: Entry): Element | null {
  const page = isReturn ? null : pageAt(pathname)
  return page?.name === 'post' ? document.querySelector(`[data-post-id="${page.id}"]`) : null
}

/**
 * Lets a post come to its place from where its card stood in sight. The style sheet keeps it where
 * it is for who wants less motion.
 */
function slideFrom(top: number | undefined, article: Element | null): void {
  if (top === undefined || !article) return
  const by = top - article.getBoundingClientRect().top
  if (Math.abs(by) < innerHeight)
    article.firstElementChild?.animate({ translate: [`0 ${by}px`, 'none'] }, SLIDE)
}

/** The entry for an address on the server and in tests. */
export function entryAt(address: string): Entry {
  const { pathname, search, hash } = new URL(address, 'http://localhost')
  return { pathname, search, hash, key: 'default', isReturn: false, fromSettings: false }
}

/** The entry whose page is shown. It stays the same while dialogs open and close over the page. */
export function useEntry(): Entry {
  const entry = useContext(EntryContext)
  if (!entry) throw new Error('Pages need a <HistoryProvider> above them')
  return entry
}

/** The page that the current address names; null if there is none. */
export function usePage(): Page | null {
  return pageAt(useEntry().pathname)
}

/** The open dialog, or null. */
export function useDialog(): Dialog | null {
  return useAtom(openedDialog, null)
}
