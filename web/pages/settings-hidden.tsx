import { useQuery } from '@tanstack/react-query'
import { useMuteAuthor } from '../feed/use-mute-author.ts'
import { formatDateTime } from '../format/time.ts'
import { usePageTitle } from '../history/entry.tsx'
import { Read } from '../http/read.tsx'
import styles from '../mutes/hidden-words.module.css'
import { HiddenWords } from '../mutes/hidden-words.tsx'
import { mutesQuery } from '../mutes/mutes.queries.ts'
import { Button } from '../ui/button.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { Loading } from '../ui/states/spinner.tsx'

/** /settings/hidden */
export function SettingsHiddenPage() {
  usePageTitle('Скрытое')
  return (
    <>
      <MutedAuthors />
      <HiddenWords />
    </>
  )
}

function MutedAuthors() {
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
                  <Row
                    icon={<Monogram name={author.username} />}
                    name={author.username}
                    about={author.until && `До ${formatDateTime(author.until)}`}
                  />
                  <ReturnButton author={author} />
                </li>
              ))}
            </ul>
          )
        }
      </Read>
    </Section>
  )
}

function ReturnButton({ author }: { author: { id: string; username: string } }) {
  const { isPending, mutate } = useMuteAuthor(author)
  return (
    <Button
      size="s"
      pending={isPending}
      aria-label={`Вернуть автора ${author.username}`}
      onClick={() => mutate(null)}
    >
      Вернуть
    </Button>
  )
}
