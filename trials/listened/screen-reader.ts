import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type BrowserContext, chromium } from 'playwright-core'
import { endChild, untilPrinted, untilUp } from '../../server/testing/process/child-process.ts'
import { findProgram } from '../../server/testing/process/debian-package.ts'

const run = promisify(execFile)

/** Orca's own hook for its users: its log has each line at once. */
const WRITE_AT_ONCE = 'import orca.debug\norca.debug.debugFile.reconfigure(line_buffering=True)\n'
/** Orca has said all when it has been silent for this long. */
const SILENCE_MS = 2500
const LONGEST_MS = 15_000

/** Finds what a screen reader needs. Installs Debian's packages for root, else throws what to do. */
async function findScreenReader() {
  return {
    screen: await findProgram(['/usr/bin/Xvfb'], 'xvfb'),
    layout: await findProgram(['/usr/bin/setxkbmap'], 'x11-xkb-utils'),
    bus: await findProgram(['/usr/bin/dbus-daemon'], 'dbus'),
    send: await findProgram(['/usr/bin/dbus-send'], 'dbus-bin'),
    access: await findProgram(['/usr/libexec/at-spi-bus-launcher'], 'at-spi2-core'),
    keys: await findProgram(['/usr/bin/xdotool'], 'xdotool'),
    reader: await findProgram(['/usr/bin/orca'], 'orca'),
    // Headless browsers have no accessibility.
    browser: await findProgram(['/usr/bin/chromium'], 'chromium'),
  }
}

type Cookies = Parameters<BrowserContext['addCookies']>[0]

/** Opens Chromium with Orca. Returns its keyboard, and what is said. The caller closes it. */
export async function listen(folder: string, cookies: Cookies) {
  const programs = await findScreenReader()
  await using starting = new AsyncDisposableStack()
  const start = (program: string, args: string[], env = process.env) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    // Orca sometimes never ends by itself, and another one then ends at once.
    starting.defer(() => endChild(child, program === programs.reader ? 'SIGKILL' : 'SIGTERM'))
    return child
  }
  const screen = start(programs.screen, ['-displayfd', '1', '-screen', '0', '1280x900x24'])
  const [display] = await untilPrinted(screen, /^\d+$/)
  const bus = start(programs.bus, ['--session', '--print-address=1', '--nofork'])
  const [address] = await untilPrinted(bus, /^unix:\S+/)
  const env = {
    ...process.env,
    LANG: 'C.UTF-8',
    LANGUAGE: 'ru',
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    DISPLAY: `:${display}`,
    DBUS_SESSION_BUS_ADDRESS: address,
  }
  // With both alphabets, no letter is lost while another is mapped to a key.
  await run(programs.layout, ['us,ru'], { env })
  const access = start(programs.access, ['--launch-immediately'], env)
  const turnOn = (name: string) =>
    run(
      programs.send,
      [
        '--session',
        '--print-reply',
        '--dest=org.a11y.Bus',
        '/org/a11y/bus',
        'org.freedesktop.DBus.Properties.Set',
        'string:org.a11y.Status',
        `string:${name}`,
        'variant:boolean:true',
      ],
      { env },
    )
  await untilUp(access, () => turnOn('IsEnabled').then(() => true))
  await turnOn('ScreenReaderEnabled')
  const log = join(folder, 'orca.log')
  const settings = join(folder, '.local/share/orca')
  await mkdir(settings, { recursive: true })
  await writeFile(join(settings, 'orca-customizations.py'), WRITE_AT_ONCE)
  const said = async () => {
    const lines = (await readFile(log, 'utf8').catch(() => '')).split('\n')
    return lines.flatMap((line) => /SPEECH OUTPUT: '(.*?)'(?:\{|$)/.exec(line)?.[1]?.trim() || [])
  }
  const reader = start(programs.reader, ['--debug', `--debug-file=${log}`], env)
  await untilUp(reader, async () => (await said()).length > 0)
  let heard = (await said()).length

  /** Returns what was said since the last call, once Orca is silent. */
  async function hear(silenceMs = SILENCE_MS): Promise<string[]> {
    const until = performance.now() + LONGEST_MS
    let lines = await said()
    let silentSince = performance.now()
    while (performance.now() < until) {
      await pause(100)
      const now = await said()
      if (now.length > lines.length) silentSince = performance.now()
      else if (now.length > heard && performance.now() - silentSince > silenceMs) break
      lines = now
    }
    const news = lines.slice(heard)
    heard = lines.length
    return news
  }

  const browser = start(
    programs.browser,
    [
      ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', '--disable-features=Translate'],
      ...['--lang=ru', '--force-renderer-accessibility', '--remote-debugging-port=0'],
      ...['--window-position=0,0', '--window-size=1280,900'],
      ...[`--user-data-dir=${join(folder, 'profile')}`, 'about:blank'],
    ],
    env,
  )
  const [, debugging = ''] = await untilPrinted(browser, /^DevTools listening on (\S+)$/)
  await addCookies(debugging, cookies)
  const running = starting.move()
  const pressWith = (...args: string[]) => run(programs.keys, args, { env })
  return {
    hear,
    press: (key: string) => pressWith('key', key),
    type: (text: string) => pressWith('type', '--delay', '40', text),
    close: () => running.disposeAsync(),
  }
}

/** Signs a browser in, before any page of the site is opened. Then nothing controls it but its keys. */
async function addCookies(address: string, cookies: Cookies): Promise<void> {
  const browser = await chromium.connectOverCDP(address)
  await browser.contexts()[0]?.addCookies(cookies)
  await browser.close()
}
