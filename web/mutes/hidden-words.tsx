import { type FormEvent, useState } from 'react'
import { HIDDEN_WORD_MAX, HIDDEN_WORD_MIN, HIDDEN_WORDS_MAX } from '../../contract/constants.ts'
import { normalizeLine, textLength } from '../../contract/text.ts'
import { hide, useHidden } from '../posts/cache/hidden.ts'
import { fold } from '../posts/view/word-match.ts'
import { SessionEnded, useTyped } from '../session/session-ended.tsx'
import { useSessionEnd } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/form/field.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { rowClass, Section } from '../ui/row.tsx'
import styles from './hidden-words.module.css'

/** Shows and changes the words that the viewer hides. They are stored only in this browser. */
export function HiddenWords() {
  const { words } = useHidden()
  const [typed, setTyped] = useTyped('hidden word', '')
  const hasEnded = useSessionEnd() !== undefined
  const [error, setError] = useState<string>()

  function type(text: string): void {
    setError(undefined)
    setTyped(text)
  }

  function add(event: FormEvent): void {
    event.preventDefault()
    if (hasEnded) return
    const word = normalizeLine(typed)
    const problem = problemOf(word, words)
    setError(problem)
    if (problem) return
    hide({ words: [word, ...words] })
    setTyped('')
    toast({ text: `Слово «${word}» добавлено` })
  }

  function remove(word: string): void {
    hide({ words: words.filter((other) => other !== word) })
  }

  return (
    <Section title="Слова, которых я не хочу видеть">
      <p className={styles.note}>
        Вместо записи с таким словом будет строка, которая её откроет. Слова хранятся только в этом
        браузере и забываются, когда вы выходите.
      </p>
      <form className={styles.form} onSubmit={add} noValidate>
        <TextField
          label="Слово"
          autoComplete="off"
          value={typed}
          hint="Или его начало: «выбор» скроет и «выборы»"
          error={error}
          onChange={type}
        />
        <SessionEnded text={typed} />
        <div className="wrap">
          <Button type="submit" disabled={hasEnded}>
            Добавить
          </Button>
        </div>
      </form>
      <ul>
        {words.map((word) => (
          <li key={word} className={rowClass}>
            <span className={styles.word}>{word}</span>
            <Button size="s" aria-label={`Убрать слово «${word}»`} onClick={() => remove(word)}>
              Убрать
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function problemOf(word: string, words: readonly string[]): string | undefined {
  const length = textLength(fold(word).trim())
  if (length < HIDDEN_WORD_MIN || length > HIDDEN_WORD_MAX) {
    return `От ${HIDDEN_WORD_MIN} до ${HIDDEN_WORD_MAX} знаков`
  }
  if (words.some((other) => fold(other) === fold(word))) return 'Это слово уже есть'
  if (words.length >= HIDDEN_WORDS_MAX) {
    return `Слов может быть не больше ${HIDDEN_WORDS_MAX}. Уберите какое-нибудь из них`
  }
  return undefined
}
