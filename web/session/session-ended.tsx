import { useEffect, useState } from 'react'
import { type Dialog, openDialog, openedDialog } from '../history/history.ts'
import { copyText, NOT_COPIED } from '../platform/copy-text.ts'
import { Button } from '../ui/button.tsx'
import { liveRegion } from '../ui/live-region.ts'
import { FormError } from '../ui/states/errors.tsx'
import { type Intent, keepIntent } from './intents.ts'
import { keptTexts } from './kept-texts.ts'
import { useAuthorId, useSessionEnd } from './viewer.ts'

type SessionEndedProps = {
  /** The text on the screen, which can be copied; if absent, there is none. */
  text?: string
  /** Opens the dialog with the text again after signing in; if absent, the page shows it. */
  reopen?: Intent & Dialog
}

/** Shows below a text why the session has ended. Nothing while the viewer is signed in. */
export function SessionEnded({ text, reopen }: SessionEndedProps) {
  const end = useSessionEnd()
  const [copied, setCopied] = useState('')

  async function copy(): Promise<void> {
    // Screen readers announce the same text again only after it was removed.
    setCopied('')
    setCopied((await copyText(text ?? '')) ? 'Текст скопирован' : NOT_COPIED)
  }

  function signIn(): void {
    if (reopen) keepIntent(reopen)
    openDialog({ name: 'sign-in', ...(reopen && { over: reopen }) })
  }

  if (!end) return null
  const acts = (
    <span className="line">
      {text !== undefined && (
        <Button size="s" onClick={() => void copy()}>
          Скопировать
        </Button>
      )}
      <Button variant="strong" size="s" onClick={signIn}>
        Войти
      </Button>
    </span>
  )
  return (
    <>
      <FormError action={acts}>{end.message}</FormError>
      <p className="soft" {...liveRegion(copied !== '')}>
        {copied}
      </p>
    </>
  )
}

/**
 * Holds what is typed into a field. If the session ends by itself, its user finds it there again
 * after signing in. It is forgotten when the field disappears otherwise. The third value is a
 * function that keeps what is typed although the field has disappeared.
 */
export function useTyped(name: string, initial: string) {
  const [owner] = useState(useAuthorId())
  const key = `typed ${owner} ${name}`
  const [typed, setTyped] = useState(() => keptTexts.read(key) ?? initial)
  const end = useSessionEnd()

  const keep = () => keptTexts.write(key, typed)
  useEffect(() => {
    if (end) keptTexts.write(key, typed)
  }, [end, key, typed])
  useEffect(() => () => forgetUnlessSigningIn(key), [key])

  return [typed, setTyped, keep] as const
}

/** Forgets a text whose form is closed, unless the sign-in has replaced the form. */
export function forgetUnlessSigningIn(key: string): void {
  if (openedDialog.get()?.name !== 'sign-in') keptTexts.remove(key)
}
