import { expect, test } from 'vitest'
import { shortcutOf } from './shortcuts.ts'

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false }

test.each([
  [{ code: 'KeyJ', key: 'о' }, 'KeyJ'],
  [{ code: 'KeyR', key: 'к' }, 'KeyR'],
  // Dvorak, Colemak and AZERTY; Caps Lock.
  [{ code: 'KeyC', key: 'j' }, 'KeyJ'],
  [{ code: 'KeyP', key: 'l' }, 'KeyL'],
  [{ code: 'KeyL', key: 'n' }, 'KeyN'],
  [{ code: 'Semicolon', key: 'o' }, 'KeyO'],
  [{ code: 'KeyZ', key: ';' }, null],
  [{ code: 'Slash', key: 'z' }, 'KeyZ'],
  [{ code: 'BracketLeft', key: '/' }, 'Slash'],
  [{ code: 'KeyJ', key: 'J' }, 'KeyJ'],
  [{ code: 'KeyJ', key: 'О' }, 'KeyJ'],
  [{ code: 'Digit7', key: '?', shiftKey: true }, '?'],
  [{ code: 'Slash', key: ',', shiftKey: true }, '?'],
  // These belong to the browser.
  [{ code: 'KeyR', key: 'r', ctrlKey: true }, null],
  [{ code: 'KeyL', key: 'l', metaKey: true }, null],
  [{ code: 'KeyK', key: 'k', altKey: true }, null],
  [{ code: 'KeyJ', key: 'J', shiftKey: true }, null],
])('on any layout %j is the shortcut %s', (pressed, shortcut) => {
  expect(shortcutOf({ ...plain, ...pressed })).toBe(shortcut)
})
