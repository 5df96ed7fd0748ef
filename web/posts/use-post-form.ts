import { type FocusEvent, type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import { normalizeText, parsePostText, remainingLength, tidyTyped } from '../../contract/text.ts'
import { errorMessage } from '../lib/error-message.ts'
import type { Drafts } from './drafts.ts'

type PostFormParts = {
  draft: Drafts
  /** The text being changed; empty for a new one. */
  initialText: string
  /** Sends the text, normalised, under the key all its attempts share. Throws what is then shown. */
  send: (text: string, submission: string) => Promise<void>
  /** After a text was sent and its draft is gone. */
  onSent: () => void
}

/** The state of a form that writes a text: typed, kept as a draft, counted, sent once. */
export function usePostForm({ draft, initialText, send, onSent }: PostFormParts) {
  const [typed, setTyped] = useState(() => draft.read() ?? initialText)
  const [error, setError] = useState<string>()
  const [pending, setPending] = useState(false)
  // State is a render late for a second press in the same frame; the ref is not.
  const sending = useRef(false)
  const entered = useRef(false)
  const text = parsePostText(typed)
  const changed = text !== normalizeText(initialText)
  const sendable = text !== null && changed

  function type(raw: string): void {
    const next = tidyTyped(raw)
    setTyped(next)
    setError(undefined)
    draft.write(next === initialText ? '' : next)
  }

  async function submit(): Promise<void> {
    if (!sendable || sending.current) return
    sending.current = true
    setPending(true)
    setError(undefined)
    try {
      await send(text, draft.submissionKey(text))
      draft.settle(text)
      onSent()
    } catch (reason) {
      setError(errorMessage(reason))
    } finally {
      sending.current = false
      setPending(false)
    }
  }

  return {
    typed,
    text,
    error: error ?? complaint(typed, text),
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
  return 'Так опубликовать нельзя: в тексте одни невидимые символы или есть служебные'
}
