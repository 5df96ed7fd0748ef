import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { findProgram, isExecutable, isRoot } from '../../server/testing/debian-package.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const MAC_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]

/** Flags that stop Chromium's own use of the network and the graphics card. */
export const CHROMIUM_FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * The path of a Chromium: CHROMIUM_PATH, else one of the usual places, else Debian's package, which is installed for root.
 * Throws an Error that says what to do where there is none.
 */
export async function findChromium(): Promise<string> {
  const named = process.env.CHROMIUM_PATH
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`CHROMIUM_PATH is ${named}, and there is no program at that path`)
  }
  return findProgram(usualPaths(), {
    debianPackage: 'chromium',
    advice: 'No Chromium found: install Chromium or Chrome, or set CHROMIUM_PATH to one',
  })
}

/** Starts a headless Chromium; the caller closes it. Its sandbox is off only for root. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await findChromium()
  return chromium.launch({ executablePath, chromiumSandbox: !isRoot, args: CHROMIUM_FLAGS })
}

function usualPaths(): string[] {
  if (process.platform === 'darwin') return MAC_PATHS
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/snap/bin']
  return folders.filter(Boolean).flatMap((folder) => NAMES.map((name) => join(folder, name)))
}
