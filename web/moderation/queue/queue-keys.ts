import { useEffect } from 'react'
import { undoLast } from './decide.ts'

/** The actions by the position of their key, as the shortcuts of every page. */
const ACTS: Record<string, string> = { KeyD: 'remove', KeyO: 'keep', KeyB: 'block' }
const TYPING = 'input, textarea, select'
const OPEN_POPUP = 'dialog[open], [role="menu"], [role="listbox"]'

/** Each key presses a button of the card that has the focus. J and K step as everywhere. */
export function useQueueKeys(): void {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

function onKeyDown(event: KeyboardEvent): void {
  const { code, ctrlKey, metaKey, altKey, shiftKey } = event
  if (event.repeat || event.defaultPrevented || event.isComposing) return
  if (ctrlKey || metaKey || altKey || shiftKey || isForOther(event.target)) return
  if (code === 'KeyZ') undoLast()
  const act = ACTS[code]
  const card = document.activeElement?.closest('[data-queue] > article')
  const button = act && card?.querySelector<HTMLElement>(`[data-act="${act}"]`)
  if (!button) return
  // The letter must not be typed into the field of a dialog that opens.
  event.preventDefault()
  button.click()
}

/** A press may be meant for a text input, or for a dialog or menu that is open. */
function isForOther(target: EventTarget | null): boolean {
  const typing = target instanceof Element && target.closest(TYPING) !== null
  return typing || document.querySelector(OPEN_POPUP) !== null
}
