import { useEffect, useState } from 'react'
import { sessionStore } from '../../platform/storage.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './post-form.module.css'
import type { PostFormState } from './post-form.tsx'
import { append } from './written.ts'

const KEY = 'shared'

/**
 * The text that a link has brought into this tab. Anybody can write such a link, so the text becomes
 * a part of a draft only if the person agrees.
 */
export const offeredText = {
  read: (): string => sessionStore.read(KEY) ?? '',
  write: (text: string): void => sessionStore.write(KEY, text),
  remove: (): void => sessionStore.remove(KEY),
}

/** Asks whether a text is to be added to the draft of a form, unless the form began with it. */
export function OfferedText({ text, form }: { text: string; form: PostFormState }) {
  const { typed, written } = form
  const [isAsked, setIsAsked] = useState(typed !== text)
  const isOpen = isAsked || typed === text
  // Until then a reload offers it again.
  useEffect(() => {
    if (!isOpen) offeredText.remove()
  }, [isOpen])

  function answer(isWanted: boolean): void {
    setIsAsked(false)
    if (isWanted) form.change(append(written, { text }))
    form.focus()
  }

  if (!isAsked || form.isPending) return null
  return (
    <div className={classes('soft spread', styles.waiting)}>
      <p className={styles.offered}>
        Добавить текст из ссылки?
        <q dir="auto">{text}</q>
      </p>
      <span className={classes('line', styles.acts)}>
        <Button size="s" onClick={() => answer(true)}>
          Добавить
        </Button>
        <Button size="s" onClick={() => answer(false)}>
          Не добавлять
        </Button>
      </span>
    </div>
  )
}
