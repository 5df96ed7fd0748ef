import { useCallback, useRef, useState } from 'react'
import { quietly } from './part.ts'
import { useOpenFailure } from './use-open-failure.ts'

/** A panel that opens at a button, its code fetched when first wanted. `load` must be the same on every render. */
export function usePopup<Part>(load: () => Promise<Part>) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [part, setPart] = useState<Part>()
  const [open, setOpen] = useState(false)
  const sayWhy = useOpenFailure()

  const show = useCallback(async () => {
    try {
      const loaded = await load()
      setPart(() => loaded)
      setOpen(true)
    } catch {
      // The button stays closed, and the next press asks again.
      await sayWhy()
    }
  }, [load, sayWhy])

  const close = useCallback(() => setOpen(false), [])
  const toggle = useCallback(() => (open ? close() : void show()), [open, close, show])
  const preload = useCallback(() => void quietly(load), [load])

  return { anchor, part: open ? part : undefined, open, show, close, toggle, preload }
}
