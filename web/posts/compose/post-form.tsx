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
import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import {
  normalizeText,
  parsePostText,
  remainingLength,
  tidyTypedText,
} from '../../../contract/text.ts'
import { storedElsewhere } from '../../platform/storage.ts'
import { forgetUnlessSigningIn, SessionEnded } from '../../session/session-ended.tsx'
import { hadSession } from '../../session/token.ts'
import { isSessionClosed, useSessionEnd } from '../../session/viewer.ts'
import { Button, isSecondClick } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { TextArea } from '../../ui/form/field.tsx'
import { ModalFooter } from '../../ui/overlay/modal.tsx'
import { toast } from '../../ui/overlay/toaster.tsx'
import { FormError } from '../../ui/states/errors.tsx'
import { usePost } from '../cache/post-cache.ts'
import { hasCode } from './compose.queries.ts'
import { type Draft, OWN_TEXT } from './drafts.ts'
import { moveToNewPost } from './orphaned-texts.ts'
import { PostCounter } from './post-counter.tsx'
import styles from './post-form.module.css'
import { dialogOf, parseTarget } from './stored-drafts.ts'
import type { Outgoing } from './text-outbox.ts'
import { useSubmit } from './use-submit.ts'
import { WaitingLine } from './waiting-line.tsx'
import { append, isSame, type Written, writtenOf } from './written.ts'

type PostFormProps = {
  form: ReturnType<typeof usePostForm>
  submitLabel?: string
  placeholder: string
  /** The accessible name of the field. */
  label?: string
  /** Whether the form is in a dialog or, on a page, a row, which opens when it is first used. */
  shape?: 'dialog' | 'row'
  note?: ReactNode
}

export function PostForm(props: PostFormProps) {
  const { form, shape = 'dialog', label = 'Текст записи', submitLabel = 'Опубликовать' } = props
  const { placeholder, note } = props
  const { sendError } = form
  const mayNotWrite = hasCode(sendError, 'BLOCKED') || hasCode(sendError, 'WRITING_CLOSED')
  const isDialog = shape === 'dialog'
  const send = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    form.submit()
  }
  const submit = (
    <>
      <PostCounter left={form.left} />
      <Button
        type="submit"
        variant="primary"
        disabled={!form.canSend}
        pending={form.isPending}
        // Under a double click on «Не отправлять» it would send the text after all.
        onClick={(event) => isSecondClick(event) && event.preventDefault()}
      >
        {submitLabel}
      </Button>
    </>
  )
  return (
    <form className={isDialog ? styles.dialog : styles.row} onSubmit={send}>
      {isDialog && note && (
        // If an error beside it states the same, the note leaves its room, so that the text stays.
        <p className={classes('soft', styles.note, mayNotWrite && styles.stated)}>{note}</p>
      )}
      <TextArea
        className={styles.area}
        label={label}
        rows={isDialog ? 4 : 1}
        placeholder={placeholder}
        value={form.typed}
        surplus={-form.left}
        onChange={(text) => form.change({ ...form.written, text })}
        onKeyDown={(event) => isSubmit(event) && send(event)}
        onFocus={form.onFocus}
        readOnly={form.isPending}
        focusOnMount={isDialog}
      />
      {form.hasAdded && (
        <p className={classes('soft spread', styles.waiting)} role="status">
          Добавлен текст из ссылки
          <Button size="s" onClick={form.dropAdded}>
            Убрать
          </Button>
        </p>
      )}
      <FormError {...form.errorLine} />
      {!form.isPending && (
        <SessionEnded text={form.typed} {...(isDialog && { reopen: dialogOf(form.target) })} />
      )}
      <div role="status">
        {form.outgoing && <WaitingLine outgoing={form.outgoing} onStop={form.stopWaiting} />}
      </div>
      {isDialog && <ModalFooter inPhoneHeader>{submit}</ModalFooter>}
      {!isDialog && (form.isUsed || form.typed !== '') && (
        <div className={classes('wrap', styles.foot)}>
          <div className={classes('soft', styles.aside)}>{!mayNotWrite && note}</div>
          {submit}
        </div>
      )}
    </form>
  )
}

type PostFormOptions = {
  draft: Draft
  /** What an edit begins with. */
  initial?: Written
  /** If absent, the form stays open, and is emptied for the next text. */
  onSent?: (() => void) | undefined
  /** A text below the draft, which it becomes a part of once the person changes or sends it. */
  added?: string
}

export function usePostForm({ draft, onSent, added = '', ...options }: PostFormOptions) {
  // Never changes: if the answer was lost, a later value may be the text that was sent.
  const [initial] = useState(() => writtenOf(options.initial ?? EMPTY_POST_BODY))
  const sending = useSubmit(draft, { onSent: finish, onRefused: () => setWritten(readDraft()) })
  const readDraft = () => draft.read() ?? initial
  // The field keeps the raw text, because a change would lose its caret and its undo history.
  const [hasAdded, setHasAdded] = useState(added !== '' && !sending.resumed)
  const [written, setWritten] = useState(() => sending.resumed ?? withAdded(readDraft(), added))
  const typed = written.text
  const tidy = tidied(written)
  const { isUsed, area, onFocus } = useFirstFocus(typed, onSent !== undefined)
  /** Keeps another Enter from publishing the text again before the form unmounts. */
  const isSent = useRef(false)
  const text = parsePostText(tidy.text)
  const canSend = text !== null && !isSame(tidy, initial)

  const unsent = sending.isPending || isSame(tidy, initial) ? null : tidy
  useStoredDraft(draft, { unsent, isStored: !hasAdded, onSent: finish })

  function finish(): void {
    isSent.current = onSent !== undefined
    onSent?.()
    if (onSent) return
    setWritten(initial)
    // The person goes on writing.
    if (area.current?.form?.querySelector('button:focus-visible')) area.current.focus()
  }

  function change(next: Written): void {
    const changed = tidied(next)
    setHasAdded(false)
    setWritten(next)
    isSent.current = false
    sending.clearError()
    draft.write(isSame(changed, initial) ? EMPTY_POST_BODY : changed)
  }

  return {
    target: draft.target,
    written,
    typed,
    isUsed,
    sendError: sending.error,
    errorLine: sending.error ? sending.errorLine : { children: validationError(tidy.text, text) },
    isPending: sending.isPending,
    outgoing: sending.outgoing,
    stopWaiting: (outgoing: Outgoing) => {
      sending.stop(outgoing)
      // The button that had the focus disappears.
      area.current?.focus()
    },
    canSend,
    left: remainingLength(tidy.text),
    change,
    submit(): void {
      if (!canSend || isSent.current) return
      if (hasAdded) change(written)
      sending.mutate({ ...tidy, text })
    },
    hasAdded,
    dropAdded(): void {
      change(readDraft())
      area.current?.focus()
    },
    onFocus,
  }
}

function withAdded(draft: Written, text: string): Written {
  return text === '' ? draft : append(draft, { text })
}

type UnsentText = {
  /** The text of the form; null while it is being sent, and if there is nothing to send. */
  unsent: Written | null
  isStored: boolean
  onSent: () => void
}

/** Follows what else happens to the stored draft: another tab sends it, or the session ends. */
function useStoredDraft(draft: Draft, { unsent, isStored, onSent }: UnsentText): void {
  const isClosed = useSessionEnd()?.code === 'SESSION_CLOSED'
  const keep = useEffectEvent(() => {
    if (unsent) draft.write(unsent)
  })
  const onStorage = useEffectEvent(({ key }: StorageEvent) => {
    // The end of the session has removed the draft.
    if (key !== null && !hadSession()) return
    if (!unsent || !isStored || draft.read() !== null) return
    // The data of the site was cleared or the draft taken over; else another tab has sent the text.
    if (key === null || draft.isContinuedElsewhere()) draft.write(unsent)
    else onSent()
  })
  useEffect(() => {
    if (isClosed) keep()
  }, [isClosed])
  useEffect(() => storedElsewhere.subscribe((event) => onStorage(event)), [])
  useEffect(() => () => forgetUnlessSigningIn(draft.name), [draft.name])
}

function tidied(written: Written): Written {
  return { ...written, text: tidyTypedText(written.text) }
}

/** Puts the caret at the end of the draft at the first focus. */
function useFirstFocus(typed: string, isDialog: boolean) {
  // A dialog counts as used from the start, so that its focus does not render the form again.
  const [isUsed, setIsUsed] = useState(isDialog)
  const area = useRef<HTMLTextAreaElement>(null)
  const onFocus = (event: FocusEvent<HTMLTextAreaElement>) => {
    if (area.current) return
    area.current = event.target
    setIsUsed(true)
    event.target.setSelectionRange(typed.length, typed.length)
  }
  return { isUsed, area, onFocus }
}

function isSubmit({ key, ctrlKey, metaKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && (ctrlKey || metaKey) && !nativeEvent.isComposing
}

const UNSAVED = 'Браузеру негде сохранить черновик. Он здесь, пока открыта эта страница'

/** Returns a function that closes, and shows in a toast that an unsent text stays as a draft. */
export function useCloseWithDraft(draft: Draft, onClose: () => void, error?: unknown): () => void {
  const { kind, postId } = parseTarget(draft.target)
  const isGone = usePost(postId) === null || hasCode(error, 'POST_NOT_FOUND')
  return () => {
    if (isSessionClosed()) return onClose()
    if (kind !== 'appeal' && isGone) moveToNewPost(draft)
    else if (draft.read() !== null) {
      toast({ text: draft.isUnsaved() ? UNSAVED : 'Черновик сохранён' }, { about: [OWN_TEXT] })
    }
    onClose()
  }
}

/** Returns a message only for a problem that the reader cannot see in the text. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов'
}
