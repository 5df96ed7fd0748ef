/** Passkeys belong to a name. */
const NUMBERS = /^\[|^[\d.]+$/

/** Returns whether the browser can have passkeys of this site. Plain http and numbers have none. */
export function arePasskeysAllowed(): boolean {
  return 'PublicKeyCredential' in window && !NUMBERS.test(location.hostname)
}
