import { X } from 'lucide'
import { useEffect } from 'react'
import { PATHS } from '../../../contract/pages.ts'
import { focusContent, usePage } from '../../history/entry.tsx'
import { pageFlags } from '../../platform/flags.ts'
import { settings } from '../../platform/page-settings.ts'
import { localStore } from '../../platform/storage.ts'
import { INTRO_SEEN_KEY, NOTICE_SEEN_KEY } from '../../platform/stored-keys.ts'
import { whenVisible } from '../../platform/timing.ts'
import { useSiteState } from '../../session/site-state.ts'
import { useViewer } from '../../session/viewer.ts'
import { hideNotice } from '../../theme/page-looks.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './notices.module.css'

/** Shows the operator's notice to all readers. A reader can hide it in this browser. */
export function OperatorNotice() {
  const { notice } = useSiteState()
  if (!notice) return null
  const { id, text } = notice
  return (
    <section
      className={classes('line band', styles.strip, styles.message)}
      aria-label="Объявление"
      data-notice-id={id}
    >
      <p role="status">{text}</p>
      <Button variant="plain" size="s" onClick={() => putAway(id)}>
        Понятно
      </Button>
    </section>
  )
}

/** Shows that the wall ends; it stays, because what is not downloaded may be lost. */
export function EndNotice() {
  const { endsOn } = useSiteState()
  if (!endsOn) return null
  return (
    <section
      className={classes('line band', styles.strip, styles.message)}
      aria-label="Закрытие стены"
    >
      <p role="status">
        Стена закроется {endsOn}: потом её можно будет только читать.{' '}
        <a href={PATHS.settings}>Скачайте свои записи</a>
      </p>
    </section>
  )
}

function putAway(id: string): void {
  localStore.write(NOTICE_SEEN_KEY, id)
  hideNotice(id)
  focusContent()
}

export function VisitorIntro() {
  const { state } = useViewer()
  const page = usePage()
  return state === 'signed-out' && page?.name === 'wall' && <Intro />
}

function Intro() {
  useEffect(() => whenVisible(() => localStore.write(INTRO_SEEN_KEY, 'yes')), [])
  return (
    <p className={classes('line band below-desktop', styles.strip, styles.intro)}>
      <span>«{settings().appName}» — стена коротких записей: читайте, пишите, отвечайте</span>
      <IconButton label="Скрыть" icon={<Icon shape={X} size={18} />} onClick={hideIntro} />
    </p>
  )
}

function hideIntro(): void {
  pageFlags().introSeen = ''
  focusContent()
}
