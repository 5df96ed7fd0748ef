import { useQuery } from '@tanstack/react-query'
import type { MailState } from '../../contract/codes.ts'
import { call } from '../api/call.ts'
import { clientToken } from '../api/device.ts'
import { worthRetrying } from '../api/query-client.ts'

const ASK_EVERY_MS = 2500

/**
 * The state of the mail that was queued at `sentAt` with the code of an operation, read every 2.5 s until the mail server
 * has accepted or refused it. Undefined before the first answer, and when the server refuses to answer.
 */
export function useCodeMail(id: string, sentAt: number): MailState | undefined {
  const { data } = useQuery({
    queryKey: ['code-mail', id, sentAt],
    queryFn: async ({ signal }) => {
      const body = { clientToken: await clientToken() }
      return (await call('POST /codes/:id/mail', { params: { id }, body }, { signal })).state
    },
    retry: false,
    gcTime: 0,
    refetchInterval: ({ state: { data: state, error } }) => {
      const isOver = state === 'sent' || state === 'refused'
      return isOver || (error && !worthRetrying(0, error)) ? false : ASK_EVERY_MS
    },
  })
  return data
}
