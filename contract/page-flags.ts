/**
 * All attributes of <html> that styles and scripts read, with their values: `introSeen` is
 * `data-intro-seen`. «Early script» is the script of index.html before the first paint.
 */
export const PAGE_FLAGS = {
  /** The colours. Set by the early script and the theme toggle. */
  theme: ['dark', 'light'],
  /**
   * The app does not run: it never will, presses wait for it, or the browser is too old. Set by the
   * build in pages that the server renders; the loader of the scripts changes it.
   */
  static: ['', 'held', 'old'],
  /**
   * No posts are shown, which may be hidden ones, or not those where the reader left the page. Set
   * by the early script; removed when the app has rendered the page.
   */
  covered: [''],
  /** Nothing is for visitors alone. Set by the server and the early script: there may be a session. */
  session: [''],
  /** No introduction. Set by the early script and the button that hides the introduction. */
  introSeen: [''],
  /** Room for the line back to a mailed code. Set by the early script and the sign-in dialog. */
  codeSent: [''],
  /** No numbers of likes and replies. Set by the early script and a switch of the settings. */
  noCounts: [''],
  /** Bytes are spared: the system’s font, scripts with the first use. Set by the early script. */
  sparing: [''],
  /** Room for the line at the bottom of the screen, which sets it. */
  notice: [''],
  /** The page does not scroll, and has a darker gutter. Set by a modal dialog. */
  modal: [''],
} as const

type Flag = keyof typeof PAGE_FLAGS

/** Returns the HTML of a page with a flag on its <html> element. */
export function withFlag(html: string, flag: Flag): string {
  return html.replace('<html ', `<html ${attributeOf(flag)} `)
}

export function attributeOf(flag: Flag): string {
  return `data-${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export type PageFlags = { [F in Flag]?: (typeof PAGE_FLAGS)[F][number] }
