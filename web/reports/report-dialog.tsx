import { OTHER_REASON, REPORT_COMMENT_MAX } from '../../contract/constants.ts'
import type { ReportReason } from '../../contract/reports.ts'
import { Read } from '../http/read.tsx'
import { useReportReasons } from '../posts/cache/moderated.queries.ts'
import { SessionEnded, useTyped } from '../session/session-ended.tsx'
import { useAction } from '../session/use-action.tsx'
import { TextAreaField } from '../ui/form/field.tsx'
import { RadioGroup } from '../ui/form/radio-group.tsx'
import { AskFooter, Modal } from '../ui/overlay/modal.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { bringIntoView } from '../ui/states/errors.tsx'
import { Loading } from '../ui/states/spinner.tsx'
import { sendReport } from './reports.queries.ts'

type ReportDialogProps = { postId: string; onClose: () => void }

export function ReportDialog({ postId, onClose }: ReportDialogProps) {
  return (
    <Modal title="Пожаловаться" onClose={onClose}>
      <Read query={useReportReasons()} loading={<Loading label="Загружаем список причин" />} inRow>
        {({ reasons }) => <ReportForm postId={postId} reasons={reasons} onClose={onClose} />}
      </Read>
    </Modal>
  )
}

function ReportForm(props: ReportDialogProps & { reasons: readonly ReportReason[] }) {
  const { postId, reasons, onClose } = props
  const [reasonId, setReasonId] = useTyped(`report ${postId} reason`, '')
  const [comment, setComment] = useTyped(`report ${postId}`, '')
  const mayExplain = reasons.find(({ id }) => id === reasonId)?.name === OTHER_REASON
  const reopen = { name: 'report', postId } as const
  const report = useAction({
    mutationFn: () => sendReport(postId, reasonId, mayExplain ? comment.trim() : ''),
    onSuccess: () => {
      toast({ text: 'Жалоба отправлена' })
      onClose()
    },
    errors: { failed: 'Не отправлено', reopen },
  })

  return (
    <>
      <RadioGroup
        legend="Что не так с записью?"
        options={reasons.map(({ id, name }) => ({ value: id, label: name }))}
        value={reasonId}
        onChange={setReasonId}
      />
      {mayExplain && (
        <TextAreaField
          ref={bringIntoView}
          label="Что нарушено?"
          hint="Необязательно, но помогает разобраться"
          value={comment}
          onChange={setComment}
          maxLength={REPORT_COMMENT_MAX}
        />
      )}
      <SessionEnded {...(mayExplain && { text: comment })} reopen={reopen} />
      <AskFooter
        variant="primary"
        action={report}
        disabled={reasonId === ''}
        onConfirm={() => report.mutate()}
        onClose={onClose}
      >
        Отправить
      </AskFooter>
    </>
  )
}
