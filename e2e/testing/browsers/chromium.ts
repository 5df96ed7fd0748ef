import { basename, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import {
  findProgram,
  isExecutable,
  isRoot,
} from '../../../server/testing/process/debian-package.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Chromium without a user interface runs the same pages, in half the time. */
const SHELL_NAMES = ['chromium-headless-shell', 'chrome-headless-shell']

const MAC_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]

/** Flags that stop Chromium's own use of the network and the graphics card. */
const CHROMIUM_FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A name of this machine that browsers do not treat as a secure context.
  '--host-resolver-rules=MAP wall.test 127.0.0.1',
]

const ADVICE = 'No Chromium found: install Chromium or Chrome, or set CHROMIUM_PATH to one'

/**
 * Finds CHROMIUM_PATH, a headless shell or a Chromium; otherwise installs Debian's headless shell
 * for root. Throws an Error that states what to do.
 */
export async function findHeadlessChromium(): Promise<string> {
  const paths = [...pathsOf(SHELL_NAMES), ...fullBrowserPaths()]
  return namedPath() ?? findProgram(paths, 'chromium-headless-shell', ADVICE)
}

export function isHeadlessShell(path: string): boolean {
  return SHELL_NAMES.includes(basename(path))
}

/** Each page of a journey lives too shortly to win back what optimizing its scripts costs. */
const WITHOUT_OPTIMIZING = '--js-flags=--no-opt --no-maglev'

/** The sandbox is off only for root. The caller closes the browser. */
export async function launchChromium(): Promise<Browser> {
  return launch(await findHeadlessChromium(), [WITHOUT_OPTIMIZING])
}

/** Pictures and measurements need a full Chromium. The caller closes the browser. */
export async function launchFullChromium(flags: string[] = []): Promise<Browser> {
  const path = namedPath() ?? (await findProgram(fullBrowserPaths(), 'chromium', ADVICE))
  return launch(path, flags)
}

function launch(executablePath: string, flags: string[] = []): Promise<Browser> {
  const args = [...CHROMIUM_FLAGS, ...flags]
  return chromium.launch({ executablePath, chromiumSandbox: !isRoot, args })
}

/** Throws if CHROMIUM_PATH names no program. */
function namedPath(): string | undefined {
  const named = process.env.CHROMIUM_PATH
  if (!named || isExecutable(named)) return named || undefined
  throw new Error(`CHROMIUM_PATH is ${named}, and there is no program at that path`)
}

function fullBrowserPaths(): string[] {
  return process.platform === 'darwin' ? MAC_PATHS : pathsOf(NAMES)
}

function pathsOf(names: string[]): string[] {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/snap/bin']
  return folders.filter(Boolean).flatMap((folder) => names.map((name) => join(folder, name)))
}
