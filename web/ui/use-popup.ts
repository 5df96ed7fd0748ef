import { useCallback, useRef, useState } from 'react'
import { preload } from '../browser/lazy-chunk.ts'
import { useOpenErrorToast } from './use-open-error-toast.ts'

/** A panel that opens at a button; `load` imports its code when it is first needed. Pass the same `load` at every render. */
export function usePopup<Content>(load: () => Promise<Content>) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [content, setContent] = useState<Content>()
  const [open, setOpen] = useState(false)
  const showOpenError = useOpenErrorToast()

  const show = useCallback(async () => {
    try {
      const loaded = await load()
      setContent(() => loaded)
      setOpen(true)
    } catch {
      // The panel stays closed, and the next press tries again.
      await showOpenError()
    }
  }, [load, showOpenError])

  const close = useCallback(() => setOpen(false), [])
  const toggle = useCallback(() => (open ? close() : void show()), [open, close, show])
  const preloadContent = useCallback(() => void preload(load), [load])

  return {
    anchor,
    content: open ? content : undefined,
    open,
    show,
    close,
    toggle,
    preload: preloadContent,
  }
}
