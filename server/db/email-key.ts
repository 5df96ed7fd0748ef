import { domainToASCII } from 'node:url'

/** Characters that IDNA (UTS 46) treats as the dot between two labels. */
const OTHER_DOTS = /[\u3002\uff0e\uff61]/g
/** Characters that no domain has; `domainToASCII` would read only the part before some of them. */
const NOT_IN_A_DOMAIN = /[^\p{L}\p{M}\p{N}._-]/u

/** Splits an address at its last at-sign. */
export function splitEmail(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf('@')
  return { local: address.slice(0, at), domain: address.slice(at + 1) }
}

/**
 * Returns a domain as the DNS has it: ASCII, in lower case, without the dot of the root; an empty string when it has
 * characters that no domain has.
 */
export function asciiDomain(domain: string): string {
  const plain = fold(domain).replace(OTHER_DOTS, '.').replace(/\.$/, '')
  if (NOT_IN_A_DOMAIN.test(plain)) return ''
  return isAscii(plain) ? plain : domainToASCII(plain)
}

/**
 * Returns the key by which addresses are compared, `users.email_key`: two that differ only in case, in Unicode's compatibility forms or in how
 * their domain is spelt (`пример.рф`, `xn--e1afmkfd.xn--p1ai`) have the same key.
 */
export function emailKey(address: string): string {
  const { local, domain } = splitEmail(address)
  return `${fold(local)}@${asciiDomain(domain) || fold(domain)}`
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}
