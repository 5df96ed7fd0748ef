import { useQueryClient } from '@tanstack/react-query'
import {
  type FocusEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import { POST_COUNTER_FROM } from '../../../contract/constants.ts'
import { normalizeText, parsePostText, remainingLength, tidyTyped } from '../../../contract/text.ts'
import { plural } from '../../format/counts.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { useToast } from '../../ui/toaster.tsx'
import type { Intent } from '../../viewer/intents.ts'
import { MutationErrorLine, useDialogMutation } from './dialog-mutation.tsx'
import { type Draft, OWN_TEXT } from './drafts.ts'
import styles from './post-form.module.css'
import { useSendOnceBack } from './sending.ts'

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
      <div role="status">
        {form.isWaiting && (
          <p className={styles.waiting}>
            Сервис пока недоступен. Текст сохранён: отправим его, как только сервис вернётся
            <Button size="s" onClick={form.stopWaiting}>
              Не отправлять
            </Button>
          </p>
        )}
      </div>
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

/** The key of every mutation that sends the text of a form. */
const SENDING = ['send text']

type PostFormOptions = {
  draft: Draft
  /** The action that opens the dialog of this form again. */
  intent: Intent
  /** The text being edited; empty for a new post. */
  initialText: string
  /** Sends the normalised text under the key that all attempts to send it share. What it throws is shown in the form. */
  send: (text: string, submissionKey: string) => Promise<void>
  /** Whether `send` may be repeated, because the server applies it once for each key: then it is while the service is away. */
  isRepeatable?: boolean
  /** Called after the text in the form was sent, by this form or by an earlier one that was closed meanwhile. */
  onSent: () => void
}

/** The state of a form for the text of a post: the input, its draft, its length, and sending it once. */
export function usePostForm(options: PostFormOptions) {
  const { draft, intent, initialText, send, isRepeatable = false, onSent } = options
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  const hasEntered = useRef(false)
  /** The text in the form was sent: until the form is gone, another Enter must not publish it again. */
  const isSent = useRef(false)
  const onceBack = useSendOnceBack(send)
  const sending = useDialogMutation({
    mutationKey: SENDING,
    mutationFn: (text: string) =>
      (isRepeatable ? onceBack.send : send)(text, draft.submissionKey(text)),
    onSuccess: (_, text) => draft.removeSent(text),
    intent,
    failed: 'Не отправлено',
  })
  const text = parsePostText(typed)
  const canSend = text !== null && text !== normalizeText(initialText)

  const onDraftSent = useEffectEvent((sent: string) => {
    if (sent !== normalizeText(typed)) return
    isSent.current = true
    onSent()
  })
  useEffect(() => draft.onSent((sent) => onDraftSent(sent)), [draft])

  function type(raw: string): void {
    const next = tidyTyped(raw)
    setTyped(next)
    isSent.current = false
    sending.clearError()
    draft.write(next === initialText ? '' : next)
  }

  function submit(): void {
    if (canSend && !isSent.current) sending.mutate(text)
  }

  return {
    typed,
    sendError: sending.error,
    errorLine: sending.error ? sending.errorLine : { text: validationError(typed, text) },
    isPending: sending.isPending,
    isWaiting: onceBack.isWaiting,
    stopWaiting: onceBack.stop,
    canSend,
    left: remainingLength(typed),
    type,
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      submit()
    },
    onFocus: (event: FocusEvent<HTMLTextAreaElement>) => {
      if (hasEntered.current) return
      // The caret starts at the end of a draft, where the person goes on writing.
      hasEntered.current = true
      event.target.setSelectionRange(typed.length, typed.length)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isSubmit = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
      if (!isSubmit || event.nativeEvent.isComposing) return
      event.preventDefault()
      submit()
    },
  }
}

/** Returns `onClose` for a dialog of a form: it says so where an unsent text stays behind as a draft. */
export function useCloseWithDraft(draft: Draft, onClose: () => void): () => void {
  const client = useQueryClient()
  const toast = useToast()
  return () => {
    const isKept = draft.read() !== null && client.isMutating({ mutationKey: SENDING }) === 0
    if (isKept) toast({ text: 'Черновик сохранён' }, { about: [OWN_TEXT] })
    onClose()
  }
}

/** Why a text that looks fine cannot be sent: its fault is invisible. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов или есть служебные'
}
