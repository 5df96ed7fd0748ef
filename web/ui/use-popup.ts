import type { KeyboardEvent } from 'react'
import { useCallback, useRef, useState } from 'react'
import { canReload, preload } from '../platform/lazy-chunk.ts'
import { useToast } from './toaster.tsx'

/** A panel that opens at the button with `buttonProps`, by a click or by `openKeys`. */
export function usePopup<Content>(load: () => Promise<Content>, openKeys: readonly string[]) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [content, setContent] = useState<Content>()
  const [state, setState] = useState<'closed' | 'opening' | 'open'>('closed')
  const open = state === 'open'
  const showOpenError = useOpenErrorToast()

  async function show(): Promise<void> {
    setState('opening')
    try {
      const loaded = await load()
      setContent(() => loaded)
      setState('open')
    } catch {
      setState('closed')
      // The panel stays closed, and the next press tries again.
      await showOpenError()
    }
  }

  const close = useCallback(() => setState('closed'), [])
  const preloadContent = () => void preload(load)

  function openByKey(event: KeyboardEvent): void {
    if (open || !openKeys.includes(event.key)) return
    event.preventDefault()
    void show()
  }

  return {
    anchor,
    content: open ? content : undefined,
    close,
    buttonProps: {
      ref: anchor,
      'aria-expanded': open,
      // On a slow line the panel's code takes a while: the press shows at once.
      'aria-busy': state === 'opening',
      onClick: () => (open ? close() : void show()),
      onKeyDown: openByKey,
      onPointerEnter: preloadContent,
      onFocus: preloadContent,
    },
  }
}

/**
 * If the server answers although a chunk could not be loaded, the network is not to blame: a
 * release removed the chunk, or the browser remembers the failure. Then a reload is offered.
 */
export function useOpenErrorToast(): () => Promise<void> {
  const toast = useToast()
  return useCallback(async () => {
    if (await canReload()) {
      const link = { label: 'Обновить страницу', onSelect: () => location.reload() }
      toast({ text: 'Не получилось загрузить', link })
    } else {
      toast({ text: 'Не получилось загрузить. Проверьте связь и нажмите ещё раз' })
    }
  }, [toast])
}
