import {
  type FocusEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
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
import { useAtom } from '../../platform/atom.ts'
import { SessionEnded } from '../../session/session-ended.tsx'
import { isSessionClosed } from '../../session/viewer.ts'
import { Button, isSecondClick } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { TextArea } from '../../ui/form/field.tsx'
import { ModalFooter } from '../../ui/overlay/modal.tsx'
import { toast } from '../../ui/overlay/toaster.tsx'
import { FormError } from '../../ui/states/errors.tsx'
import { usePost } from '../cache/post-cache.ts'
import { hasCode } from './compose.queries.ts'
import { SuggestedNames, useNameSuggestions } from './name-suggestions.tsx'
import type { OpenText } from './open-text.ts'
import { continueAsNewPost } from './orphaned-texts.ts'
import { PostCounter } from './post-counter.tsx'
import styles from './post-form.module.css'
import { dialogOf, parseTarget, type Target, textsChanged } from './stored-texts.ts'
import { errorOf } from './text-failures.ts'
import { isPending, isUnsaved } from './texts.ts'
import { WaitingLine } from './waiting-line.tsx'
import { append, isSame, type Written, writtenOf } from './written.ts'

type PostFormProps = {
  form: PostFormState
  submitLabel?: string
  placeholder: string
  /** The accessible name of the field. */
  label?: string
  /** Whether the form is in a dialog or, on a page, a row, which opens when it is first used. */
  shape?: 'dialog' | 'row'
  note?: ReactNode
  /** Whether the note changes each second, which would be announced as long as the field has it. */
  isNoteTicking?: boolean
}

export function PostForm(props: PostFormProps) {
  const { form, shape = 'dialog', label = 'Текст записи', submitLabel = 'Опубликовать' } = props
  const { placeholder, note, isNoteTicking = false } = props
  const noteId = useId()
  const { sendError } = form
  const mayNotWrite = hasCode(sendError, 'BLOCKED') || hasCode(sendError, 'WRITING_CLOSED')
  const isDialog = shape === 'dialog'
  const names = useNameSuggestions(form)
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
        <p id={noteId} className={classes('soft', styles.note, mayNotWrite && styles.stated)}>
          {note}
        </p>
      )}
      <TextArea
        className={styles.area}
        label={label}
        aria-describedby={isDialog && note && !isNoteTicking ? noteId : undefined}
        rows={isDialog ? 4 : 1}
        placeholder={placeholder}
        value={form.typed}
        surplus={-form.left}
        onChange={(text) => form.change({ ...form.written, text })}
        {...names.field}
        onKeyDown={(event) => {
          names.field.onKeyDown(event)
          if (isSubmit(event)) send(event)
        }}
        onFocus={form.onFocus}
        readOnly={form.isPending}
        focusOnMount={isDialog}
      />
      <SuggestedNames {...names.list} />
      <FormError {...form.errorLine} />
      {!form.isPending && (
        <SessionEnded text={form.typed} {...(isDialog && { reopen: dialogOf(form.target) })} />
      )}
      <WaitingLine text={form.pending} onStop={form.stop} />
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
  text: OpenText
  /** What an edit begins with. */
  initial?: Written
  /** If absent, the form stays open, and is emptied for the next text. */
  onSent?: (() => void) | undefined
  /** What the form begins with if there is no draft. It is stored once the person changes it. */
  begin?: string
}

export type PostFormState = ReturnType<typeof usePostForm>

export function usePostForm({ text, onSent, begin = '', ...options }: PostFormOptions) {
  const { now, pending, sendError } = useStored(text, finish)
  // Never changes: if the answer was lost, a later value may be the text that was sent.
  const [initial] = useState(() => writtenOf(options.initial ?? EMPTY_POST_BODY))
  // The field keeps the raw text, because a change would lose its caret and its undo history.
  const [written, setWritten] = useState(() =>
    now?.text ? writtenOf(now) : append(initial, { text: begin }),
  )
  const typed = written.text
  const tidy = tidied(written)
  const { isUsed, area, onFocus } = useFirstFocus(typed, onSent !== undefined)
  /** Keeps another Enter from publishing the text again before the form unmounts. */
  const isSent = useRef(false)
  const parsed = parsePostText(tidy.text)
  const canSend = parsed !== null && !isSame(tidy, initial)

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
    setWritten(next)
    isSent.current = false
    text.write(isSame(changed, initial) ? EMPTY_POST_BODY : changed)
  }

  return {
    target: text.target,
    written,
    typed,
    isUsed,
    sendError,
    errorLine: { children: sendError?.message ?? validationError(tidy.text, parsed) },
    isPending: pending !== undefined,
    pending,
    /** Makes the text a draft again. Focuses the field, because the pressed button disappears. */
    stop(): void {
      text.stop()
      area.current?.focus()
    },
    canSend,
    left: remainingLength(tidy.text),
    change,
    /** Submits the text, for another target than its own if `target` is set. */
    submit(target?: Target): void {
      if (!canSend || isSent.current || pending) return
      if (target) text.sendTo(target, { ...tidy, text: parsed })
      else text.send({ ...tidy, text: parsed })
    },
    remove: () => text.remove(),
    focus: () => area.current?.focus(),
    onFocus,
  }
}

/** Follows the stored text of a form, and calls `onSent` when the server has it. */
function useStored(text: OpenText, onSent: () => void) {
  const now = useAtom({ get: () => text.get(), subscribe: textsChanged.subscribe }, undefined)
  const sent = useEffectEvent(onSent)
  useEffect(() => text.follow(() => sent()), [text])
  const pending = now && isPending(now) ? now : undefined
  const error = !pending && now?.failure ? errorOf(now) : null
  // The form shows the end of the session, which the person may also learn of without sending.
  return { now, pending, sendError: hasCode(error, 'SESSION_CLOSED') ? null : error }
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

/** Windows reports AltGr, which types a third letter of a key, as Ctrl with Alt. */
function isSubmit({ key, ctrlKey, metaKey, altKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && (ctrlKey || metaKey) && !altKey && !nativeEvent.isComposing
}

const UNSAVED = 'Браузеру негде сохранить черновик. Он здесь, пока открыта эта страница'

/** Returns a function that closes, and shows in a toast that an unsent text stays as a draft. */
export function useCloseWithDraft(
  text: OpenText,
  onClose: () => void,
  error?: unknown,
): () => void {
  const { kind, postId } = parseTarget(text.target)
  const isGone = usePost(postId) === null || hasCode(error, 'POST_NOT_FOUND')
  return () => {
    if (isSessionClosed()) return onClose()
    const draft = text.draft()
    if (draft && isGone && kind !== 'appeal') continueAsNewPost(draft)
    else if (draft) {
      toast({ text: isUnsaved(draft) ? UNSAVED : 'Черновик сохранён' })
    }
    onClose()
  }
}

/** Returns a message only for a problem that the reader cannot see in the text. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов'
}
