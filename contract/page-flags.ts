/**
 * All attributes of <html> that styles and scripts read, with their values: `introSeen` is
 * `data-intro-seen`. The early script is that of index.html, which runs before the first paint.
 */
export const PAGE_FLAGS = {
  /** The colours. Set by the early script and the theme toggle. */
  theme: ['dark', 'light'],
  /**
   * The app does not run: its scripts never will, are loading, or wait for the first use, as do
   * presses. Every page has it empty; the scripts in its head change it, and the app removes it.
   */
  static: ['', 'loading', 'held'],
  /**
   * No posts are shown, which may be hidden ones, or not those where the reader left the page. Set
   * by the early script; removed when the app has rendered the page.
   */
  covered: [''],
  /**
   * What is for visitors alone is hidden. Set by the server and the early script if there may be a
   * session.
   */
  session: [''],
  /** The introduction is hidden. Set by the early script and the button that hides it. */
  introSeen: [''],
  /** The line back to a mailed code has room. Set by the early script and the sign-in dialog. */
  codeSent: [''],
  /** Numbers of likes and replies are hidden. Set by the early script and a setting. */
  noCounts: [''],
  /**
   * Bytes are spared: the system’s font, scripts with the first use. Set by the early script, and by
   * the server in a page whose address contains a token.
   */
  sparing: [''],
  /** The line at the bottom of the screen has room. That line sets it. */
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
