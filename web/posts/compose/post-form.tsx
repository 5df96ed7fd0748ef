import type { ReactNode } from 'react'
import { POST_COUNTER_FROM } from '../../../contract/constants.ts'
import { plural } from '../../format/counts.ts'
import { Button } from '../../ui/button.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { TextArea } from '../../ui/text-area.tsx'
import { MutationErrorLine } from './dialog-mutation.tsx'
import styles from './post-form.module.css'
import type { usePostForm } from './use-post-form.ts'

type PostFormProps = {
  form: ReturnType<typeof usePostForm>
  submitLabel: string
  placeholder: string
  /** The accessible name of the field, for a text that is no post. */
  label?: string
  /** A short text above the text. */
  note?: ReactNode
}

/** The content of a dialog where a text is written. */
export function PostForm({ form, submitLabel, placeholder, label, note }: PostFormProps) {
  return (
    <form className={styles.form} onSubmit={form.onSubmit}>
      {note && <p className={styles.note}>{note}</p>}
      <TextArea
        className={styles.area}
        label={label ?? 'Текст записи'}
        placeholder={placeholder}
        value={form.typed}
        onChange={form.type}
        onKeyDown={form.onKeyDown}
        onFocus={form.onFocus}
        readOnly={form.isPending}
        focusOnMount
      />
      <MutationErrorLine line={form.errorLine} />
      <ModalFooter inPhoneHeader>
        <PostCounter left={form.left} />
        <Button type="submit" variant="primary" disabled={!form.canSend} pending={form.isPending}>
          {submitLabel}
        </Button>
      </ModalFooter>
    </form>
  )
}

const FORMS = { one: 'символ', few: 'символа', many: 'символов' }
/** Numbers of characters left that are announced; announcing every key press would drown out the text. */
const STEPS = [10, 25, POST_COUNTER_FROM]

/** How many characters are left: hidden until 50 are left, red once the text is too long. */
export function PostCounter({ left }: { left: number }) {
  return (
    <>
      {left <= POST_COUNTER_FROM && (
        <span className={styles.counter} data-over={left < 0} aria-hidden="true">
          {left < 0 ? `−${-left}` : left}
        </span>
      )}
      <span role="status">
        <span className="visually-hidden">{announcement(left)}</span>
      </span>
    </>
  )
}

function announcement(left: number): string {
  if (left < 0) return 'Текст слишком длинный'
  if (left === 0) return 'Символов не осталось'
  const step = STEPS.find((candidate) => left <= candidate)
  return step === undefined ? '' : `Осталось ${step} ${plural(step, FORMS)} или меньше`
}
