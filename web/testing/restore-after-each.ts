import { afterEach, vi } from 'vitest'

/** Files of one worker share its globals, so each test leaves them as they were. */
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})
