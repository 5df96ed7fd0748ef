import { Search } from 'lucide'
import { SITE_DESCRIPTION } from '../../../contract/pages.ts'
import { SearchForm } from '../../search/search-form.tsx'
import { TextLinks } from '../../texts/site-links.tsx'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './side-info.module.css'

/** Shows the search, the description and the site's texts beside the column on wide screens. */
export function SideInfo() {
  return (
    <aside className={classes('soft unprinted desktop-only', styles.side)} aria-label="О сайте">
      <SearchForm className="line" label="Поиск по записям" placeholder="Поиск">
        <IconButton type="submit" label="Найти" icon={<Icon shape={Search} size={20} />} />
      </SearchForm>
      <p>{SITE_DESCRIPTION}</p>
      <div className={classes('wrap', styles.links)}>
        <TextLinks />
      </div>
    </aside>
  )
}
