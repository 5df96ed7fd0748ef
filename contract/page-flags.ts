/** All attributes of <html> that styles and scripts read: `introSeen` is `data-intro-seen`. */
export const PAGE_FLAGS = {
  theme: {
    values: ['dark', 'light'],
    setBy: 'index.html, the script before the first paint and the theme toggle',
    shows: 'the colours',
  },
  static: {
    values: ['', 'held', 'old'],
    setBy: 'the build, in pages that the server renders; the loader of the scripts changes it',
    shows:
      'that the app does not run: it never will, presses wait for it, or the browser is too old',
  },
  covered: {
    values: [''],
    setBy: 'the script before the first paint; removed when the app has rendered the page',
    shows: 'no posts, which may be hidden ones, or not those where the reader left the page',
  },
  session: {
    values: [''],
    setBy: 'the server and the script before the first paint, where there may be a session',
    shows: 'nothing that is for visitors alone',
  },
  introSeen: {
    values: [''],
    setBy: 'the script before the first paint and the button that hides the introduction',
    shows: 'no introduction',
  },
  codeSent: {
    values: [''],
    setBy: 'the script before the first paint and the sign-in dialog, while a mailed code waits',
    shows: 'room for the line that leads back to the code',
  },
  noCounts: {
    values: [''],
    setBy: 'the script before the first paint and a switch of the settings',
    shows: 'no numbers of likes and replies',
  },
  sparing: {
    values: [''],
    setBy: 'the script before the first paint, where bytes are spared',
    shows: 'the system’s font; the scripts come with the first use',
  },
  notice: {
    values: [''],
    setBy: 'the line at the bottom of the screen',
    shows: 'room for this line',
  },
  modal: {
    values: [''],
    setBy: 'a modal dialog',
    shows: 'a page that does not scroll, with a darker gutter',
  },
} as const satisfies Record<string, { values: string[]; setBy: string; shows: string }>

type Flag = keyof typeof PAGE_FLAGS

/** Returns the HTML of a page with a flag on its <html> element. */
export function withFlag(html: string, flag: Flag): string {
  return html.replace('<html ', `<html ${attributeOf(flag)} `)
}

export function attributeOf(flag: Flag): string {
  return `data-${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export type PageFlags = { [F in Flag]?: (typeof PAGE_FLAGS)[F]['values'][number] }
