import { afterEach, expect, test, vi } from 'vitest'
import { queryClient } from '../http/query-client.ts'
import { intentToResume, keepIntent, resumeIntents } from './intents.ts'

afterEach(() => queryClient.clear())

test.each([
  ['the person whose session expired', '7', 1],
  ['somebody else', '8', 0],
])(
  'a like of an expired session is set, or only forgotten, when %s signs in',
  async (_who, id, times) => {
    keepIntent({ name: 'like', postId: '1', by: '7' })
    queryClient.setQueryData(['viewer'], { state: 'authorized', user: { id } })
    const perform = vi.fn()
    await resumeIntents(perform)
    expect(perform).toHaveBeenCalledTimes(times)
    expect(intentToResume()).toBeNull()
  },
)
