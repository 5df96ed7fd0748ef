import { useState } from 'react'
import { parsePostText, tidyTypedText } from '../../../contract/text.ts'
import { copyText, NOT_COPIED } from '../../platform/copy-text.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { TextArea } from '../../ui/form/field.tsx'
import { ModalFooter } from '../../ui/overlay/modal.tsx'
import { FormError } from '../../ui/states/errors.tsx'
import type { Draft } from './drafts.ts'
import styles from './post-form.module.css'
import { useSubmit } from './use-submit.ts'
import { WaitingLine } from './waiting-line.tsx'
import type { Written } from './written.ts'

type EditExpiredProps = {
  postId: string
  /** The accessible name of the text. */
  label: string
  /** The edit that was not saved before the period ended; null if nothing was changed. */
  unsaved: Written | null
  draft: Draft
  onClose: () => void
}

export function EditExpired({ unsaved, ...props }: EditExpiredProps) {
  return (
    <>
      <p className={styles.notice} role="alert">
        Время изменения записи истекло
      </p>
      {unsaved === null ? (
        <ModalFooter>
          <Button variant="primary" onClick={props.onClose}>
            Понятно
          </Button>
        </ModalFooter>
      ) : (
        <UnsavedText {...props} unsaved={unsaved} />
      )}
    </>
  )
}

function UnsavedText(props: EditExpiredProps & { unsaved: Written }) {
  const { postId, label, unsaved, draft, onClose } = props
  const typed = unsaved.text
  const [copied, setCopied] = useState('')
  const text = parsePostText(tidyTypedText(typed))
  const reply = useSubmit(draft, {
    target: `reply ${postId}`,
    onSent: onClose,
    onRefused: () => setCopied(''),
  })

  async function copy(): Promise<void> {
    // Screen readers announce the same text again only after it was removed.
    setCopied('')
    setCopied((await copyText(typed)) ? 'Текст скопирован' : NOT_COPIED)
  }

  function sendAsReply(): void {
    if (text !== null) reply.mutate({ ...unsaved, text })
  }

  function drop(): void {
    draft.clear()
    onClose()
  }

  return (
    <>
      <p className={classes('tip', styles.text)}>
        Правка не пропала: скопируйте текст или отправьте его ответом.
      </p>
      <TextArea label={label} value={typed} onChange={ignore} readOnly focusOnMount />
      <FormError {...reply.errorLine} />
      <div role="status">
        {reply.outgoing && <WaitingLine outgoing={reply.outgoing} onStop={reply.stop} />}
      </div>
      <p className={classes('soft', styles.copied)} role="status">
        {copied}
      </p>
      <ModalFooter>
        <Button
          wide
          variant="primary"
          pending={reply.isPending}
          disabled={text === null}
          onClick={sendAsReply}
        >
          Отправить ответом
        </Button>
        <Button wide onClick={() => void copy()}>
          Скопировать текст
        </Button>
        <Button wide variant="danger" onClick={drop}>
          Удалить текст
        </Button>
      </ModalFooter>
    </>
  )
}

function ignore(): void {}
