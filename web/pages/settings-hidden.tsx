import { useMuteAuthor } from '../feed/use-mute-author.ts'
import { usePageTitle } from '../history/use-page-title.ts'
import { HiddenWords } from '../mutes/hidden-words.tsx'
import { MutedAuthors } from '../mutes/muted-authors.tsx'
import { Button } from '../ui/button.tsx'

/** /settings/hidden */
export function SettingsHiddenPage() {
  usePageTitle('Скрытое')
  return (
    <>
      <MutedAuthors action={(author) => <ReturnButton author={author} />} />
      <HiddenWords />
    </>
  )
}

function ReturnButton({ author }: { author: { id: string; username: string } }) {
  const { isPending, mutate } = useMuteAuthor(author)
  return (
    <Button
      size="s"
      pending={isPending}
      aria-label={`Вернуть автора ${author.username}`}
      onClick={() => mutate(false)}
    >
      Вернуть
    </Button>
  )
}
