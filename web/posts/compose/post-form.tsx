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
import { useAction } from '../../http/use-action.tsx'
import type { Intent } from '../../session/intents.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/errors.tsx'
import { TextArea } from '../../ui/field.tsx'
import { ModalFooter } from '../../ui/modal.tsx'
import { toast } from '../../ui/toaster.tsx'
import { type Draft, OWN_TEXT } from './drafts.ts'
import { PostCounter } from './post-counter.tsx'
import styles from './post-form.module.css'
import { useSendWhenAvailable } from './send-when-available.ts'
import { WaitingLine } from './waiting-line.tsx'

type PostFormProps = {
  form: ReturnType<typeof usePostForm>
  submitLabel: string
  placeholder: string
  /** The accessible name of the field. */
  label?: string
  /** In a page the form is a row, which opens when it is first used. */
  shape?: 'dialog' | 'row'
  note?: ReactNode
}

export function PostForm({ form, submitLabel, shape = 'dialog', ...props }: PostFormProps) {
  const { placeholder, label = 'Текст записи', note } = props
  const isDialog = shape === 'dialog'
  const submit = (
    <>
      <PostCounter left={form.left} />
      <Button type="submit" variant="primary" disabled={!form.canSend} pending={form.isPending}>
        {submitLabel}
      </Button>
    </>
  )
  return (
    <form className={styles.form} data-shape={shape} onSubmit={form.onSubmit}>
      {isDialog && note && <p className={styles.note}>{note}</p>}
      <TextArea
        className={styles.area}
        label={label}
        rows={isDialog ? 4 : 1}
        placeholder={placeholder}
        value={form.typed}
        onChange={form.type}
        onKeyDown={form.onKeyDown}
        onFocus={form.onFocus}
        readOnly={form.isPending}
        focusOnMount={isDialog}
      />
      <FormError {...form.errorLine} />
      <div role="status">
        {form.waiting && <WaitingLine waiting={form.waiting} onStop={form.stopWaiting} />}
      </div>
      {isDialog && <ModalFooter inPhoneHeader>{submit}</ModalFooter>}
      {!isDialog && (form.isUsed || form.typed !== '') && (
        <div className={styles.foot}>
          <div className={styles.aside}>{note}</div>
          {submit}
        </div>
      )}
    </form>
  )
}

const SENDING = ['send text']

type PostFormOptions = {
  draft: Draft
  /** The action that opens the dialog of this form again. */
  intent: Intent
  initialText: string
  /** All attempts to send a text share the key. The error of `send` is shown in the form. */
  send: (text: string, submissionKey: string) => Promise<void>
  /** Whether the server applies a repeated `send` only once for each key. */
  isRepeatable?: boolean
  /**
   * Called also after an earlier form, which was closed meanwhile, has sent the text. Without it the
   * form stays, empty, for the next text.
   */
  onSent?: (() => void) | undefined
}

export function usePostForm(options: PostFormOptions) {
  const { draft, intent, send, isRepeatable = false, onSent } = options
  // What arrives meanwhile may be the very text that was sent, whose answer was lost.
  const [initialText] = useState(options.initialText)
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  // A field whose text was changed would lose its caret and what Ctrl+Z takes back.
  const tidy = tidyTyped(typed)
  // A dialog opens to be used: its focus need not render the form again.
  const [isUsed, setIsUsed] = useState(onSent !== undefined)
  const area = useRef<HTMLTextAreaElement>(null)
  /** Until the form is gone, another Enter must not publish the text again. */
  const isSent = useRef(false)
  const repeated = useSendWhenAvailable(send)
  const sending = useAction({
    mutationKey: SENDING,
    mutationFn: (text: string) =>
      (isRepeatable ? repeated.send : send)(text, draft.submissionKey(text)),
    onSuccess: (_, text) => draft.removeSent(text),
    errors: { failed: 'Не отправлено', reopen: intent },
  })
  const text = parsePostText(tidy)
  const canSend = text !== null && text !== normalizeText(initialText)

  const onDraftSent = useEffectEvent((sent: string) => {
    if (sent !== normalizeText(tidy)) return
    if (!onSent) return empty()
    isSent.current = true
    onSent()
  })
  useEffect(() => draft.onSent((sent) => onDraftSent(sent)), [draft])

  const onStorage = useEffectEvent(() => {
    // Another tab has published the text that both showed.
    if (!onSent && typed !== '' && draft.read() === null) empty()
  })
  useEffect(() => {
    const stop = new AbortController()
    addEventListener('storage', () => onStorage(), { signal: stop.signal })
    return () => stop.abort()
  }, [])

  function empty(): void {
    setTyped(initialText)
    // The button cannot keep the focus of a keyboard now.
    if (document.activeElement?.matches('button:focus-visible')) area.current?.focus()
  }

  function type(raw: string): void {
    const next = tidyTyped(raw)
    setTyped(raw)
    isSent.current = false
    sending.clearError()
    draft.write(next === initialText ? '' : next)
  }

  function submit(): void {
    if (canSend && !isSent.current) sending.mutate(text)
  }

  return {
    typed,
    isUsed,
    sendError: sending.error,
    errorLine: sending.error ? sending.errorLine : { children: validationError(tidy, text) },
    isPending: sending.isPending,
    waiting: repeated.waiting,
    stopWaiting: () => {
      repeated.stop()
      // The button that had the focus disappears.
      area.current?.focus()
    },
    canSend,
    left: remainingLength(tidy),
    type,
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      submit()
    },
    onFocus: (event: FocusEvent<HTMLTextAreaElement>) => {
      if (area.current) return
      // The caret starts at the end of a draft, where the person goes on writing.
      area.current = event.target
      setIsUsed(true)
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

/** A toast tells that an unsent text stays behind as a draft. */
export function useCloseWithDraft(draft: Draft, onClose: () => void): () => void {
  const client = useQueryClient()
  return () => {
    const isSending = client.isMutating({ mutationKey: SENDING }) > 0
    if (draft.read() !== null && !isSending) {
      toast({ text: draft.isUnsaved() ? UNSAVED : 'Черновик сохранён' }, { about: [OWN_TEXT] })
    }
    onClose()
  }
}

/** The fault of a text that looks fine is invisible, so it is named. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов или есть служебные'
}
