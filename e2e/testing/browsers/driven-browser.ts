export type Key = 'Enter' | 'Escape'

/** A tab of a browser with an empty profile, with what every browser's driver can do. */
export type TabDriver = {
  goto(url: string): Promise<unknown>
  /** Runs an expression in the page and returns its value, which must be JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Clicks with a mouse at a point of the viewport, in CSS px. */
  clickAt(x: number, y: number): Promise<unknown>
  type(text: string): Promise<unknown>
  press(key: Key): Promise<unknown>
  close(): Promise<void>
}

/** The caller closes the browser. */
export type DrivenBrowser = {
  openTab(): Promise<TabDriver>
  close(): Promise<void>
}
