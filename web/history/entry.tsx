import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useLayoutEffect,
  useState,
} from 'react'
import { type Page, pageAt } from '../../contract/pages.ts'
import { currentEntry, type Entry, onEntryChange } from './history.ts'

const EntryContext = createContext<Entry | null>(null)

/** Provides the current history entry, or `entry` on the server and in tests. */
export function HistoryProvider({ entry, children }: { entry?: Entry; children: ReactNode }) {
  const [shown, setShown] = useState(entry ?? currentEntry)

  useLayoutEffect(() => {
    if (entry) return
    // A transition keeps the page until the next one is rendered.
    const show = () => startTransition(() => setShown(currentEntry()))
    show()
    return onEntryChange(show)
  }, [entry])

  return <EntryContext value={shown}>{children}</EntryContext>
}

export function entryAt(address: string): Entry {
  const { pathname, search, hash } = new URL(address, 'http://localhost')
  return { pathname, search, hash, key: 'default', isReturn: false, fromSettings: false }
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
