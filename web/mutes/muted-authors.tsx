import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Post } from '../../contract/posts.ts'
import { Read } from '../http/read.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { Loading } from '../ui/spinner.tsx'
import styles from './hidden-words.module.css'
import { mutesQuery } from './mutes.queries.ts'

type Author = Post['owner']
type MutedAuthorsProps = { action: (author: Author) => ReactNode }

/** The authors whom the viewer hides, each with `action`. */
export function MutedAuthors({ action }: MutedAuthorsProps) {
  return (
    <Section title="Скрытые авторы">
      <Read
        query={useQuery(mutesQuery)}
        loading={<Loading label="Загружаем скрытых авторов" />}
        inRow
      >
        {(authors) =>
          authors.length === 0 ? (
            <p className={styles.note}>Вы никого не скрыли. Это можно сделать в меню записи.</p>
          ) : (
            <ul>
              {authors.map((author) => (
                <li key={author.id} className={rowClass}>
                  <Row icon={<Monogram name={author.username} />} name={author.username} />
                  {action(author)}
                </li>
              ))}
            </ul>
          )
        }
      </Read>
    </Section>
  )
}
