import { TEXT_NAMES } from '../../contract/pages.ts'
import type { SiteText as Content } from '../../contract/texts.ts'
import { SiteFoot } from '../feed/site-foot.tsx'
import { usePage } from '../history/entry.tsx'
import { usePageTitle } from '../history/use-page-title.ts'
import { Read } from '../http/read.tsx'
import styles from '../texts/site-text.module.css'
import { useText } from '../texts/texts.queries.ts'
import { Loading } from '../ui/spinner.tsx'

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
          <SiteText text={text} />
          <SiteFoot />
        </>
      )}
    </Read>
  )
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
