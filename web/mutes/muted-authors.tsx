import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Post } from '../../contract/posts.ts'
import { errorMessage } from '../http/error-message.ts'
import { ErrorRow } from '../ui/errors.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { Loading } from '../ui/spinner.tsx'
import styles from './hidden-words.module.css'
import { mutesQuery } from './mutes.queries.ts'

type Author = Post['owner']
type MutedAuthorsProps = { action: (author: Author) => ReactNode }

/** Whom the viewer does not want to see, each with `action`. */
export function MutedAuthors({ action }: MutedAuthorsProps) {
  return (
    <Section title="Скрытые авторы">
      <Authors action={action} />
    </Section>
  )
}

function Authors({ action }: MutedAuthorsProps) {
  const { data, error, refetch } = useQuery(mutesQuery)
  if (!data) {
    return error ? (
      <ErrorRow text={errorMessage(error)} onRetry={refetch} />
    ) : (
      <Loading label="Загружаем скрытых авторов" />
    )
  }
  if (data.length === 0) {
    return <p className={styles.note}>Вы никого не скрыли. Это можно сделать в меню записи.</p>
  }
  return (
    <ul>
      {data.map((author) => (
        <li key={author.id} className={rowClass}>
          <Row icon={<Monogram name={author.username} />} name={author.username} />
          {action(author)}
        </li>
      ))}
    </ul>
  )
}
