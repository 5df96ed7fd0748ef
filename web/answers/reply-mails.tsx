import { useQuery } from '@tanstack/react-query'
import { useAction } from '../http/use-action.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { rowClass } from '../ui/row.tsx'
import { receivedQuery, setReplyMails } from './answers.queries.ts'

/** The setting whether the viewer receives mails about unseen replies. */
export function ReplyMails() {
  const { data } = useQuery(receivedQuery)
  const set = useAction({ mutationFn: setReplyMails, errors: 'toast' })
  if (!data) return null
  const isOn = set.isPending ? set.variables : data.wantsMail
  return (
    <div className={rowClass}>
      <Checkbox label="Письма об ответах" checked={isOn ?? false} onChange={set.mutate} />
    </div>
  )
}
