import { Link, useLocation, useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { useHeaderTitle } from '../browser/use-page-title.ts'
import { Button } from '../ui/button.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { openDialog } from '../viewer/dialogs.ts'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'
import { DIALOGS } from './dialog-parts.ts'
import { FEED_VIEWS, type FeedView, feedViewAt } from './feed-views.ts'
import styles from './page-header.module.css'
import { BackButton } from './shell/back-button.tsx'
import { FeedSwitcher } from './shell/feed-switcher.tsx'
import { Header, HeaderTitle } from './shell/header.tsx'

/** The header: the switcher on top-level pages, the way back and the title on all others; the viewer at the right. */
export function PageHeader() {
  const view = feedViewAt(useLocation().pathname)
  return <Header left={view ? <Switcher current={view} /> : <BackAndTitle />} right={<Account />} />
}

function Switcher({ current }: { current: FeedView }) {
  return (
    <FeedSwitcher
      options={FEED_VIEWS}
      current={current}
      onSelect={(path) => void withViewer({ name: 'go', path })}
    />
  )
}

function BackAndTitle() {
  const navigate = useNavigate()
  const title = useHeaderTitle()

  function back(): void {
    // The router numbers its entries; 0 is where this visit of the site began.
    const { idx = 0 } = (history.state ?? {}) as { idx?: number }
    void (idx > 0 ? navigate(-1) : navigate(PATHS.wall))
  }

  return (
    <>
      <BackButton onBack={back} />
      {title && <HeaderTitle>{title}</HeaderTitle>}
    </>
  )
}

function Account() {
  const viewer = useViewer()
  if (viewer.state === 'authorized') {
    return (
      <Link
        to={PATHS.settings}
        className={styles.profile ?? ''}
        aria-label={`Профиль ${viewer.user.username}`}
      >
        <Monogram name={viewer.user.username} />
      </Link>
    )
  }
  return (
    // Keeps its place while it is not known who came, so that nothing jumps and nothing flashes.
    <span className={viewer.state === 'signed-out' ? undefined : styles.unknown}>
      <Button
        variant="strong"
        size="s"
        onClick={() => openDialog({ name: 'sign-in' })}
        onPointerEnter={DIALOGS['sign-in'].ahead}
        onFocus={DIALOGS['sign-in'].ahead}
      >
        Войти
      </Button>
    </span>
  )
}
