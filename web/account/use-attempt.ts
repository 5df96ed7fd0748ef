import { useRef, useState } from 'react'
import { CallError } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { useToast } from '../ui/toaster.tsx'

type Attempt = {
  busy: boolean
  /** What the server says of the value typed, for the line under the input. */
  refusal: CallError | null
  clearRefusal: () => void
  /** Runs an action unless one is running. Refusals of the value (400) are kept, any other failure is told in a toast. */
  run: (action: () => Promise<void>) => Promise<void>
}

/** One form's calls: one at a time, with a place for what the server refuses. */
export function useAttempt(): Attempt {
  const toast = useToast()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<CallError | null>(null)
  // State is a render late for a second Enter in the same frame; the ref is not.
  const running = useRef(false)

  async function run(action: () => Promise<void>): Promise<void> {
    if (running.current) return
    running.current = true
    setBusy(true)
    setRefusal(null)
    try {
      await action()
    } catch (error) {
      if (error instanceof CallError && error.status === 400) setRefusal(error)
      else toast({ text: errorMessage(error) })
    } finally {
      running.current = false
      setBusy(false)
    }
  }

  return { busy, refusal, clearRefusal: () => setRefusal(null), run }
}
