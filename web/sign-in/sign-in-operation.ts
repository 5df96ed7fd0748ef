import { type Operation, savedOperation } from '../codes/saved-operation.ts'
import { createEmitter, type ReadableAtom } from '../platform/atom.ts'
import { pageFlags } from '../platform/flags.ts'
import { SIGN_IN_KEY } from '../platform/stored-keys.ts'

const CHECK_EVERY_MS = 1000

const saved = savedOperation(SIGN_IN_KEY)
const changes = createEmitter(() => {
  // The operation may expire, or end in another tab.
  const timer = setInterval(follow, CHECK_EVERY_MS)
  return () => clearInterval(timer)
})

/** The sign-in or registration whose code was mailed. */
export const signInOperation = {
  read: saved.read,
  write(operation: Operation): void {
    saved.write(operation)
    follow()
  },
  remove(): void {
    saved.remove()
    follow()
  },
}

/** The address whose mailed code is not typed yet, in any tab, and even after «Закрыть». */
export const waitingEmail: ReadableAtom<string | null> = {
  get() {
    const operation = saved.read()
    return operation && !operation.isLeft ? operation.email : null
  },
  subscribe: changes.subscribe,
}

/** Sets the flag for which the page reserves room for the line about the code. */
function follow(): void {
  if (waitingEmail.get() !== null) pageFlags().codeSent = ''
  else delete pageFlags().codeSent
  changes.emit()
}
