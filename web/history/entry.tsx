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

const SLIDE_MS = 150

const EntryContext = createContext<Entry | null>(null)

/** Provides the entry of the history that is shown; on the server and in tests a given one. */
export function HistoryProvider({ entry, children }: { entry?: Entry; children: ReactNode }) {
  const [shown, setShown] = useState(entry ?? currentEntry)
  const tapped = useRef<Place>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page that is shown.
  useLayoutEffect(() => {
    if (tapped.current) slideFrom(tapped.current)
    tapped.current = undefined
  }, [shown])

  useLayoutEffect(() => {
    if (entry) return
    const show = () => {
      const next = currentEntry()
      const page = next.isReturn ? null : pageAt(next.pathname)
      tapped.current = page?.name === 'post' ? placeOf(page.id) : undefined
      // As a transition: the page stays until the next one is rendered.
      startTransition(() => setShown(currentEntry()))
    }
    show()
    return onEntryChange(show)
  }, [entry])

  return <EntryContext value={shown}>{children}</EntryContext>
}

/** Where the card of a post stands, in px below the top of the window. */
type Place = { postId: string; top: number; card: HTMLElement }

function placeOf(postId: string): Place | undefined {
  const card = document.querySelector<HTMLElement>(`article[data-post-id="${postId}"]`)
  return card ? { postId, top: card.getBoundingClientRect().top, card } : undefined
}

/** Moves the card of a post from its place in a list to its place on the page that opens. */
function slideFrom({ postId, top }: Place): void {
  const place = placeOf(postId)
  if (!place || matchMedia('(prefers-reduced-motion: reduce)').matches) return
  const background = 'var(--paper)'
  const from = { transform: `translateY(${top - place.top}px)`, background }
  const to = { transform: 'none', background }
  place.card.animate([from, to], { duration: SLIDE_MS, easing: 'ease-out' })
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
