import { useState } from 'react'
import { copyText, NOT_COPIED } from '../../platform/copy-text.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { TextArea } from '../../ui/form/field.tsx'
import { liveRegion } from '../../ui/live-region.ts'
import { ModalFooter } from '../../ui/overlay/modal.tsx'
import { FormError } from '../../ui/states/errors.tsx'
import styles from './post-form.module.css'
import type { PostFormState } from './post-form.tsx'
import { WaitingLine } from './waiting-line.tsx'

type EditExpiredProps = {
  postId: string
  /** The accessible name of the text. */
  label: string
  /** The edit that was not saved before the period ended; null if nothing was changed. */
  form: PostFormState | null
  onClose: () => void
}

export function EditExpired({ form, ...props }: EditExpiredProps) {
  return (
    <>
      <p className={styles.notice} role="alert">
        Время изменения записи истекло
      </p>
      {form === null ? (
        <ModalFooter>
          <Button variant="primary" onClick={props.onClose}>
            Понятно
          </Button>
        </ModalFooter>
      ) : (
        <UnsavedText {...props} form={form} />
      )}
    </>
  )
}

function UnsavedText(props: EditExpiredProps & { form: PostFormState }) {
  const { postId, label, form, onClose } = props
  const { typed } = form
  const [copied, setCopied] = useState('')
  const asReply = `reply ${postId}` as const
  // The refusal of the edit is stated above.
  const errorLine = form.target === asReply ? form.errorLine : { children: undefined }

  async function copy(): Promise<void> {
    // Screen readers announce the same text again only after it was removed.
    setCopied('')
    setCopied((await copyText(typed)) ? 'Текст скопирован' : NOT_COPIED)
  }

  function sendAsReply(): void {
    setCopied('')
    form.submit(asReply)
  }

  function drop(): void {
    form.remove()
    onClose()
  }

  return (
    <>
      <p className={classes('tip', styles.text)}>
        Правка не пропала: скопируйте текст или отправьте его ответом.
      </p>
      <TextArea label={label} value={typed} onChange={ignore} readOnly focusOnMount />
      <FormError {...errorLine} />
      <WaitingLine text={form.pending} onStop={form.stop} />
      <p className={classes('soft', styles.copied)} {...liveRegion(copied !== '')}>
        {copied}
      </p>
      <ModalFooter>
        <Button
          wide
          variant="primary"
          pending={form.isPending}
          disabled={!form.canSend}
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
