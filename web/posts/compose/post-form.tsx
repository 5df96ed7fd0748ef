import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { TextArea } from '../../ui/text-area.tsx'
import { MutationErrorLine } from './dialog-mutation.tsx'
import { PostCounter } from './post-counter.tsx'
import styles from './post-form.module.css'
import type { usePostForm } from './use-post-form.ts'

type PostFormProps = {
  form: ReturnType<typeof usePostForm>
  submitLabel: string
  placeholder: string
  /** A short text at the start of the bottom row. */
  note?: ReactNode
}

/** The content of a dialog where a text is written. */
export function PostForm({ form, submitLabel, placeholder, note }: PostFormProps) {
  return (
    <form className={styles.form} onSubmit={form.onSubmit}>
      <TextArea
        className={styles.area}
        label="Текст записи"
        placeholder={placeholder}
        value={form.typed}
        onChange={form.type}
        onKeyDown={form.onKeyDown}
        onFocus={form.onFocus}
        readOnly={form.isPending}
        focusOnMount
      />
      <MutationErrorLine line={form.errorLine} />
      <ModalFooter>
        {note && <span className={styles.note}>{note}</span>}
        <PostCounter left={form.left} />
        <Button type="submit" variant="primary" disabled={!form.canSend} pending={form.isPending}>
          {submitLabel}
        </Button>
      </ModalFooter>
    </form>
  )
}
