import { SiteLinks } from '../texts/site-links.tsx'
import { ThemeToggle } from '../theme/theme-toggle.tsx'

/** The end of a public page on phones and tablets. */
export function SiteFoot() {
  return (
    <SiteLinks>
      <ThemeToggle />
    </SiteLinks>
  )
}
