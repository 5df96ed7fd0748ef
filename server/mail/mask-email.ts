/** An address as logs may show it: the first character and the domain, `o***@example.org`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}***${at < 0 ? '' : email.slice(at)}`
}
