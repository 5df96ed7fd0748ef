import { useEffect, useEffectEvent } from 'react'
import { isOwnKey } from '../platform/own-target.ts'
import { localStore } from '../platform/storage.ts'
import { LETTERS_OFF_KEY } from '../platform/stored-keys.ts'

/** Functions by `event.code`, or by «?». If one returns false, the browser handles the key. */
export type Shortcuts = Record<string, (() => unknown) | undefined>

export function areLettersOn(): boolean {
  return localStore.read(LETTERS_OFF_KEY) === null
}

export function setLettersOn(areOn: boolean): void {
  if (areOn) localStore.remove(LETTERS_OFF_KEY)
  else localStore.write(LETTERS_OFF_KEY, 'off')
}

const TYPING = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const POPUP = 'dialog[open], [role="menu"], [role="listbox"], [data-loading]'

/** Handles key presses. With `repeats`, a key that is held down calls its function repeatedly. */
export function useShortcuts(shortcuts: Shortcuts, { repeats = false } = {}): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || (event.repeat && !repeats)) return
    const pressed = shortcutOf(event) ?? ''
    if (/^(?:Key|Slash)/.test(pressed) && !areLettersOn()) return
    const run = shortcuts[pressed]
    // The letter must not be typed into the field of a dialog that opens.
    if (run && !isForOther(event.target) && run() !== false) event.preventDefault()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}

/**
 * Returns whether a press is meant for a text input, for a dialog or menu, open or loading, or for
 * what a browser extension has added to the page.
 */
export function isForOther(target: EventTarget | null): boolean {
  if (!isOwnKey(target) || target.closest(TYPING) !== null) return true
  return document.querySelector(POPUP) !== null
}

type Pressed = Pick<KeyboardEvent, 'code' | 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>

/**
 * Returns a shortcut by the Latin letter that is typed, which Dvorak, Colemak and AZERTY have on
 * other keys. A layout without Latin letters has the key's position: on ЙЦУКЕН the J key types «о».
 */
export function shortcutOf(event: Pressed): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // On ЙЦУКЕН «?» is Shift+7; its Latin position works too.
  if (event.key === '?' || (event.shiftKey && event.code === 'Slash')) return '?'
  if (event.shiftKey) return null
  if (/^[a-z]$/i.test(event.key)) return `Key${event.key.toUpperCase()}`
  if (event.key === '/') return 'Slash'
  // A Latin layout has punctuation where others have letters.
  const isMoved = /^Key/.test(event.code) && /^[!-~]$/.test(event.key)
  return isMoved ? null : event.code
}
