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
import type { Intent } from '../../viewer/intents.ts'
import type { Drafts } from './drafts.ts'
import { useSendError } from './use-send-error.ts'

type PostFormParts = {
  draft: Drafts
  /** How to come back to the dialog of this form. */
  intent: Intent
  /** The text being changed; empty for a new one. */
  initialText: string
  /** Sends the text, normalised, under the key all its attempts share. Throws what is then shown. */
  send: (text: string, submission: string) => Promise<void>
  /** After the text in the form was sent, by this form or by one that was closed meanwhile. */
  onSent: () => void
}

/** The state of a form that writes a text: typed, kept as a draft, counted, sent once. */
export function usePostForm(parts: PostFormParts) {
  const { draft, intent, initialText, send, onSent } = parts
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  const error = useSendError({ intent, failed: 'Не отправлено' })
  const [pending, setPending] = useState(false)
  // State is a render late for a second press in the same frame; the ref is not.
  const sending = useRef(false)
  const entered = useRef(false)
  const text = parsePostText(typed)
  const changed = text !== normalizeText(initialText)
  const sendable = text !== null && changed

  const onSettled = useEffectEvent((settled: string) => {
    if (settled === normalizeText(typed)) onSent()
  })
  useEffect(() => draft.onSettled((settled) => onSettled(settled)), [draft])

  function type(raw: string): void {
    const next = tidyTyped(raw)
    setTyped(next)
    error.forget()
    draft.write(next === initialText ? '' : next)
  }

  async function submit(): Promise<void> {
    if (!sendable || sending.current) return
    sending.current = true
    setPending(true)
    error.forget()
    try {
      await send(text, draft.submissionKey(text))
      draft.settle(text)
    } catch (reason) {
      error.tell(reason)
    } finally {
      sending.current = false
      setPending(false)
    }
  }

  return {
    typed,
    text,
    error: { text: error.text ?? complaint(typed, text), signIn: error.signIn },
    pending,
    sendable,
    left: remainingLength(typed),
    type,
    submit,
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      void submit()
    },
    onFocus: (event: FocusEvent<HTMLTextAreaElement>) => {
      if (entered.current) return
      // One goes on writing where a draft ends, not before its first word.
      entered.current = true
      event.target.setSelectionRange(typed.length, typed.length)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
      if (!sends || event.nativeEvent.isComposing) return
      event.preventDefault()
      void submit()
    },
  }
}

/** Why a text that looks fine cannot be sent: what is wrong with it cannot be seen. */
function complaint(typed: string, text: string | null): string | undefined {
  if (text !== null || normalizeText(typed) === '' || remainingLength(typed) < 0) return undefined
  return 'Такой текст не опубликовать: в нём нет видимых символов или есть служебные'
}
