import type { SiteText as Content } from '../../contract/texts.ts'
import styles from './site-text.module.css'

/** The content of a text of the site. */
export function SiteText({ text }: { text: Content }) {
  return (
    <article
      className={styles.text}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: the server has made it from Markdown, without the HTML in that
      dangerouslySetInnerHTML={{ __html: text.html }}
    />
  )
}
