import { useQueryClient } from '@tanstack/react-query'
import {
  type FocusEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import { normalizeText, parsePostText, remainingLength, tidyTyped } from '../../../contract/text.ts'
import { useToast } from '../../ui/toaster.tsx'
import type { Intent } from '../../viewer/intents.ts'
import { useDialogMutation } from './dialog-mutation.tsx'
import type { Draft } from './drafts.ts'

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
  /** Called after the text in the form was sent, by this form or by an earlier one that was closed meanwhile. */
  onSent: () => void
}

/** The state of a form for the text of a post: the input, its draft, its length, and sending it once. */
export function usePostForm(options: PostFormOptions) {
  const { draft, intent, initialText, send, onSent } = options
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  const hasEntered = useRef(false)
  const sending = useDialogMutation({
    mutationKey: SENDING,
    mutationFn: (text: string) => send(text, draft.submissionKey(text)),
    onSuccess: (_, text) => draft.removeSent(text),
    intent,
    failed: 'Не отправлено',
  })
  const text = parsePostText(typed)
  const canSend = text !== null && text !== normalizeText(initialText)

  const onDraftSent = useEffectEvent((sent: string) => {
    if (sent === normalizeText(typed)) onSent()
  })
  useEffect(() => draft.onSent((sent) => onDraftSent(sent)), [draft])

  function type(raw: string): void {
    const next = tidyTyped(raw)
    setTyped(next)
    sending.clearError()
    draft.write(next === initialText ? '' : next)
  }

  function submit(): void {
    if (canSend) sending.mutate(text)
  }

  return {
    typed,
    sendError: sending.error,
    errorLine: sending.error ? sending.errorLine : { text: validationError(typed, text) },
    isPending: sending.isPending,
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
    const isSending = client.isMutating({ mutationKey: SENDING }) > 0
    if (draft.read() !== null && !isSending) toast({ text: 'Черновик сохранён' })
    onClose()
  }
}

/** Why a text that looks fine cannot be sent: its fault is invisible. */
function validationError(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов или есть служебные'
}
