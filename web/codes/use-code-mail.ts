import { useQuery } from '@tanstack/react-query'
import type { MailState } from '../../contract/codes.ts'
import { call } from '../api/call.ts'
import { clientToken } from '../api/device.ts'
import { worthRetrying } from '../api/query-client.ts'

const ASK_EVERY_MS = 2500

/**
 * What has become of the mail that was sent at `sentAt` with the code of an operation: asked every 2.5 s until it is with
 * the mail server or refused. Undefined until the server has said, and where it will not say.
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
