import { TEXT_NAMES } from '../../contract/pages.ts'
import type { SiteText as Content } from '../../contract/texts.ts'
import { usePage } from '../history/entry.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { errorMessage } from '../http/error-message.ts'
import { SiteLinks } from '../texts/site-links.tsx'
import styles from '../texts/site-text.module.css'
import { useText } from '../texts/texts.queries.ts'
import { ErrorPage } from '../ui/errors.tsx'
import { Loading } from '../ui/spinner.tsx'

/** /about, /rules, /privacy, /contacts */
export function TextPage() {
  const page = usePage()
  const name = TEXT_NAMES.find((text) => text === page?.name) ?? 'about'
  const { data: text, error, refetch } = useText(name)
  usePageTitle(text?.title)
  if (text) {
    return (
      <>
        <SiteText text={text} />
        <SiteLinks />
      </>
    )
  }
  if (error) return <ErrorPage text={errorMessage(error)} onRetry={refetch} />
  return <Loading label="Загружаем страницу" />
}

function SiteText({ text }: { text: Content }) {
  return (
    <article
      className={styles.text}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: made from Markdown without its HTML
      dangerouslySetInnerHTML={{ __html: text.html }}
    />
  )
}
