import { TEXT_NAMES } from '../../contract/constants.ts'
import { SiteFoot } from '../feed/post-feed.tsx'
import { usePage, usePageTitle } from '../history/entry.tsx'
import { Read } from '../http/read.tsx'
import styles from '../texts/site-text.module.css'
import { useText } from '../texts/texts.queries.ts'
import { Loading } from '../ui/states/spinner.tsx'

/** /about, /rules, /privacy, /consent, /contacts */
export function TextPage() {
  const page = usePage()
  const name = TEXT_NAMES.find((text) => text === page?.name) ?? 'about'
  const query = useText(name)
  usePageTitle(query.data?.title)
  return (
    <Read query={query} loading={<Loading label="Загружаем страницу" />}>
      {(text) => (
        <>
          <article
            className={styles.text}
            translate="yes"
            // biome-ignore lint/security/noDangerouslySetInnerHtml: Markdown without its HTML
            dangerouslySetInnerHTML={{ __html: text.html }}
          />
          <SiteFoot />
        </>
      )}
    </Read>
  )
}
