import { useState } from 'react'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { Read } from '../../http/read.tsx'
import { useReportReasons } from '../../posts/cache/moderated.queries.ts'
import { RadioGroup } from '../../ui/form/radio-group.tsx'
import { AskFooter, Modal } from '../../ui/overlay/modal.tsx'
import { Loading } from '../../ui/states/spinner.tsx'
import { AuthorLine } from './author-block.tsx'
import { decide } from './decide.ts'
import { useModeratedPost } from './queue.queries.ts'

type RemoveDialogProps = { postId: string; onClose: () => void }

/** Removes a post on the wall as a moderator, whether it was reported or not. */
export function RemoveDialog({ postId, onClose }: RemoveDialogProps) {
  return (
    <Modal title="Удалить как модератор" onClose={onClose}>
      <Read query={useModeratedPost(postId)} loading={<Loading label="Загружаем запись" />} inRow>
        {(post) => <RemoveForm post={post} onClose={onClose} />}
      </Read>
    </Modal>
  )
}

function RemoveForm({ post, onClose }: { post: QueuedPost; onClose: () => void }) {
  const [reason, setReason] = useState(post.reasons[0]?.name)

  function remove(): void {
    if (reason === undefined) return
    decide(post, { verdict: 'remove', reason })
    onClose()
  }

  return (
    <>
      <AuthorLine author={post.author} />
      <Read query={useReportReasons()} loading={<Loading label="Загружаем список причин" />} inRow>
        {({ reasons }) => (
          <RadioGroup
            legend="Причина, её увидит автор"
            options={reasons.map(({ name }) => ({ value: name, label: name }))}
            value={reason}
            onChange={setReason}
          />
        )}
      </Read>
      <AskFooter disabled={reason === undefined} onConfirm={remove} onClose={onClose}>
        Удалить
      </AskFooter>
    </>
  )
}
