import { DEVICE_FIELD_MAX } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import { clientToken, withinTime } from '../session/client-token.ts'

/** A device that the list of devices shows as «Неизвестный браузер». */
const UNKNOWN: Device = { userAgent: '', userAgentVersion: '', os: '' }

/** Returns the client token, and the device, which is unknown if reading it fails. */
export async function identify(): Promise<{ clientToken: string; device: Device }> {
  const [token, device] = await Promise.all([
    clientToken(),
    withinTime(readDevice).catch(() => UNKNOWN),
  ])
  return { clientToken: token, device }
}

async function readDevice(): Promise<Device> {
  const { default: bowser } = await import('bowser')
  const { browser, os } = bowser.parse(navigator.userAgent)
  return {
    userAgent: field(browser.name),
    userAgentVersion: field(browser.version),
    os: field([os.name, systemVersion(os)].filter(Boolean).join(' ')),
  }
}

/** Windows reports a number («NT 10.0»); people know its versions by name. */
function systemVersion(os: { name?: string; version?: string; versionName?: string }) {
  return os.name === 'Windows' ? os.versionName : os.version
}

function field(text: string | undefined): string {
  return (text ?? '').replace(/\p{Cc}/gu, '').slice(0, DEVICE_FIELD_MAX)
}
