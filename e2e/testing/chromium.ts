import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const WINDOWS_PATHS = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
]

const MAC_PATHS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]

/** Nothing but the page under test should use the network or the machine. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const isRoot = process.getuid?.() === 0

/**
 * The path of a Chromium: CHROMIUM_PATH, else one of the usual places, else Debian's, which root
 * gets installed. Throws an Error that says what to do where there is none.
 */
export async function findChromium(): Promise<string> {
  const named = process.env.CHROMIUM_PATH
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`CHROMIUM_PATH is ${named}, and there is no program at that path`)
  }
  const found = usualPaths().find(isExecutable)
  if (found) return found
  if (isRoot && existsSync('/etc/debian_version')) await installChromium()
  const installed = usualPaths().find(isExecutable)
  if (installed) return installed
  throw new Error('No Chromium found: install Chromium or Chrome, or set CHROMIUM_PATH to one')
}

/** Starts a headless Chromium; the caller closes it. Its sandbox is off only for root. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await findChromium()
  return chromium.launch({ executablePath, chromiumSandbox: !isRoot, args: QUIET })
}

function usualPaths(): string[] {
  if (process.platform === 'darwin') return MAC_PATHS
  if (process.platform === 'win32') {
    const { ProgramFiles, LOCALAPPDATA } = process.env
    const roots = [ProgramFiles, process.env['ProgramFiles(x86)'], LOCALAPPDATA]
    return roots.flatMap((root) => (root ? WINDOWS_PATHS.map((path) => join(root, path)) : []))
  }
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/snap/bin']
  return folders.filter(Boolean).flatMap((folder) => NAMES.map((name) => join(folder, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function installChromium(): Promise<void> {
  console.log('No Chromium found: installing it with apt-get, which can take a minute…')
  await runApt(['update', '-qq'])
  await runApt(['install', '-y', '-qq', '--no-install-recommends', 'chromium'])
}

async function runApt(args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = spawn('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(apt, 'exit')
  if (code !== 0) throw new Error(`apt-get ${args[0]} failed with exit code ${code}`)
}
