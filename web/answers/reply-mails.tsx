import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAction } from '../http/use-action.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { rowClass } from '../ui/row.tsx'
import { receivedQuery, setReplyMails } from './answers.queries.ts'

/** The setting whether the viewer receives mails about unseen replies. */
export function ReplyMails() {
  const client = useQueryClient()
  const { data } = useQuery(receivedQuery)
  const set = useAction({
    mutationFn: (wantsMail: boolean) => setReplyMails(client, wantsMail),
    errors: 'toast',
  })
  if (!data) return null
  const isOn = set.isPending ? set.variables : data.wantsMail
  return (
    <div className={rowClass}>
      <Checkbox label="Письма об ответах" checked={isOn ?? false} onChange={set.mutate} />
    </div>
  )
}
