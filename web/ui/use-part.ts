import { startTransition, useCallback, useEffect, useState } from 'react'
import type { Part } from './part.ts'

/**
 * The content of a part, fetched when this is first rendered and undefined until it is there. `retry` tries again after
 * a failure and resolves with whether it came.
 */
export function usePart<Content>(part: Part<Content>) {
  const [state, setState] = useState<'loading' | 'failed' | 'ready'>(
    part.content() === undefined ? 'loading' : 'ready',
  )

  const retry = useCallback(async () => {
    try {
      await part.load()
      // In slices, so that the page answers a tap meanwhile.
      startTransition(() => setState('ready'))
      return true
    } catch (error) {
      console.error(error)
      setState('failed')
      return false
    }
  }, [part])

  // Also where it has come meanwhile: between the first render and this, somebody else's wish may have brought it.
  useEffect(() => void retry(), [retry])

  return { content: part.content(), failed: state === 'failed', retry }
}
