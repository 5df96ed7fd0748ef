import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { endChild, untilPrinted, untilUp } from '../../../server/testing/process/child-process.ts'
import { findProgram } from '../../../server/testing/process/debian-package.ts'
import { freePort } from '../../../server/testing/process/free-port.ts'
import type { DrivenBrowser, Key, TabDriver } from './driven-browser.ts'

const KEYS: Record<Key, string> = { Enter: '\uE007', Escape: '\uE00C' }
const SCREEN = { width: 1280, height: 1000 }

/**
 * Finds the driver, the browser that comes with its library, and a virtual screen. Installs Debian's
 * packages for root. Throws an Error that states what to do.
 */
export async function findWebKit() {
  const driver = await findProgram(['/usr/bin/WebKitWebDriver'], 'webkit2gtk-driver')
  const browser = globSync('/usr/lib/*/webkit2gtk-4.*/MiniBrowser')[0]
  if (!browser) throw new Error('No MiniBrowser found, which Debian’s libwebkit2gtk-4.1-0 contains')
  const screen = await findProgram(['/usr/bin/Xvfb'], 'xvfb')
  return { driver, browser, screen }
}

/** Each tab has a WebDriver session, and so a browser, of its own. */
export async function launchWebKit(): Promise<DrivenBrowser> {
  const { driver, browser, screen } = await findWebKit()
  await using starting = new AsyncDisposableStack()
  const size = `${SCREEN.width}x${SCREEN.height}x24`
  const xvfb = spawn(screen, ['-displayfd', '1', '-screen', '0', size, '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  starting.defer(() => endChild(xvfb))
  const [display] = await untilPrinted(xvfb, /^\d+$/)
  const port = await freePort()
  const server = spawn(driver, [`--port=${port}`], {
    env: { ...process.env, DISPLAY: `:${display}` },
    stdio: 'ignore',
  })
  starting.defer(() => endChild(server))
  const url = `http://127.0.0.1:${port}`
  await untilUp(server, () => command(url, 'GET', '/status').then(() => true))
  const running = starting.move()
  return { openTab: () => openSession(url, browser), close: () => running.disposeAsync() }
}

async function openSession(url: string, browser: string): Promise<TabDriver> {
  const options = { binary: browser, args: ['--automation'] }
  const { sessionId } = (await command(url, 'POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
  })) as { sessionId: string }
  const session = `/session/${sessionId}`
  const post = (path: string, body: object) => command(url, 'POST', session + path, body)
  await post('/window/rect', { x: 0, y: 0, ...SCREEN })

  const act = (source: object) => post('/actions', { actions: [source] })
  const type = (text: string) => {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    return act({ type: 'key', id: 'keyboard', actions })
  }
  return {
    goto: (address) => post('/url', { url: address }),
    evaluate: (expression) => post('/execute/sync', { script: `return ${expression}`, args: [] }),
    clickAt(x, y) {
      const move = { type: 'pointerMove', duration: 0, x, y }
      const press = [
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ]
      return act({ type: 'pointer', id: 'mouse', actions: [move, ...press] })
    },
    type,
    press: (key) => type(KEYS[key]),
    close: async () => void (await command(url, 'DELETE', session)),
  }
}

/** Sends a command of https://www.w3.org/TR/webdriver2/. Throws with the driver's message. */
async function command(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(url + path, { method, ...(body && { body: JSON.stringify(body) }) })
  const { value } = (await answer.json()) as { value: { error: string; message: string } }
  if (!answer.ok) throw new Error(`WebKit: ${method} ${path}: ${value.error} ${value.message}`)
  return value
}
