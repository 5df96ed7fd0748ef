import { isEmail } from '../../contract/email.ts'
import { AppError } from '../http/app-error.ts'
import { hasReadableDomain, withUsualDomain } from '../mail/readable-domain.ts'

/** Throws INVALID_REQUEST for what is no e-mail address. */
export function requireEmail(address: string): void {
  if (!isEmail(address)) {
    throw new AppError('INVALID_REQUEST', { message: 'Введите корректный email' })
  }
}

/**
 * An address an account may be given, its domain in the usual form. Throws INVALID_REQUEST for what is no address, and
 * for a domain that people would take for another.
 */
export function requireNewEmail(address: string): string {
  requireEmail(address)
  if (hasReadableDomain(address)) return withUsualDomain(address)
  throw new AppError('INVALID_REQUEST', {
    message: 'Проверьте адрес после «@»: в нём есть буквы другого алфавита или лишние знаки',
  })
}
