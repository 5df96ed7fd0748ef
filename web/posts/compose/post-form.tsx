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
import { normalizeText, parsePostText, remainingLength, tidyTyped } from '../../../contract/text.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { useToast } from '../../ui/toaster.tsx'
import type { Intent } from '../../viewer/intents.ts'
import { MutationErrorLine, useDialogMutation } from './dialog-mutation.tsx'
import { type Draft, OWN_TEXT } from './drafts.ts'
import { PostCounter } from './post-counter.tsx'
import styles from './post-form.module.css'
import { useSendWhenAvailable } from './send-when-available.ts'
import { WaitingLine } from './waiting-line.tsx'

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
        {form.waiting && <WaitingLine waiting={form.waiting} onStop={form.stopWaiting} />}
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
  /** Whether `send` may be repeated, because the server applies it once for each key: then it waits for what passes by itself. */
  isRepeatable?: boolean
  /** Called after the text in the form was sent, by this form or by an earlier one that was closed meanwhile. */
  onSent: () => void
}

/** The state of a form for the text of a post: the input, its draft, its length, and sending it once. */
export function usePostForm(options: PostFormOptions) {
  const { draft, intent, initialText, send, isRepeatable = false, onSent } = options
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  const area = useRef<HTMLTextAreaElement>(null)
  /** The text in the form was sent: until the form is gone, another Enter must not publish it again. */
  const isSent = useRef(false)
  const onceBack = useSendWhenAvailable(send)
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
    waiting: onceBack.waiting,
    stopWaiting: () => {
      onceBack.stop()
      // The button that had the focus disappears.
      area.current?.focus()
    },
    canSend,
    left: remainingLength(typed),
    type,
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      submit()
    },
    onFocus: (event: FocusEvent<HTMLTextAreaElement>) => {
      if (area.current) return
      // The caret starts at the end of a draft, where the person goes on writing.
      area.current = event.target
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

const UNSAVED = 'Браузеру негде сохранить черновик. Он здесь, пока открыта эта страница'

/** Returns `onClose` for a dialog of a form: it says so where an unsent text stays behind as a draft. */
export function useCloseWithDraft(draft: Draft, onClose: () => void): () => void {
  const client = useQueryClient()
  const toast = useToast()
  return () => {
    const isSending = client.isMutating({ mutationKey: SENDING }) > 0
    if (draft.read() !== null && !isSending) {
      toast({ text: draft.isUnsaved() ? UNSAVED : 'Черновик сохранён' }, { about: [OWN_TEXT] })
    }
    onClose()
  }
}

/** Why a text that looks fine cannot be sent: its fault is invisible. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов или есть служебные'
}
