import {
  AtSign,
  EyeOff,
  Flag,
  type IconNode,
  Keyboard,
  LogOut as LogOutShape,
  Mail,
  MonitorSmartphone,
  ShieldCheck,
  UserRoundX,
} from 'lucide'
import { type ReactNode, useState } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { authorPath, MODERATION_PATH, PATHS } from '../../contract/pages.ts'
import { plural } from '../format/counts.ts'
import { moderationLabel } from '../format/labels.ts'
import { useEntry } from '../history/entry.tsx'
import { goBack, leave, openDialog } from '../history/history.ts'
import { Link } from '../history/link.tsx'
import { useAction } from '../http/use-action.tsx'
import { pageFlags } from '../platform/flags.ts'
import { localStore } from '../platform/storage.ts'
import { countUnsentTexts } from '../posts/compose/drafts.ts'
import { NO_COUNTS_KEY } from '../session/stored-keys.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { EmailText } from '../ui/form/email-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { Spinner } from '../ui/states/spinner.tsx'
import { logOut } from './account.queries.ts'
import styles from './account-settings.module.css'

type AccountSettingsProps = {
  user: CurrentUser
  onLoggedOut: () => void
  download: ReactNode
  replyMails: ReactNode
  theme: ReactNode
}

export function AccountSettings({ user, onLoggedOut, ...parts }: AccountSettingsProps) {
  return (
    <>
      <Link to={authorPath(user.username)} className={classes(rowClass, styles.own)}>
        <Row
          icon={<Monogram name={user.username} />}
          name={user.username}
          about="Моя страница"
          withChevron
        />
      </Link>
      <Section title="Аккаунт">
        <SettingsLink
          to={PATHS.email}
          icon={Mail}
          name="Электронная почта"
          value={<EmailText address={user.email} />}
        />
        <SettingsLink
          to={PATHS.username}
          icon={AtSign}
          name="Имя пользователя"
          value={user.username}
        />
      </Section>
      <div className={styles.session}>
        <SettingsLink to={PATHS.devices} icon={MonitorSmartphone} name="Устройства" />
        <LogOut userId={user.id} onLoggedOut={onLoggedOut} />
      </div>
      {user.isModerator && (
        <Section title="Для модераторов">
          <SettingsLink
            to={MODERATION_PATH}
            icon={ShieldCheck}
            name={moderationLabel(user)}
            value="Жалобы, которые ждут решения"
          />
        </Section>
      )}
      <Section title="Лента и письма">
        {parts.replyMails}
        <ShownCounts />
        {parts.theme}
        <SettingsLink to={PATHS.hidden} icon={EyeOff} name="Скрытое" value="Авторы и слова" />
        <button
          type="button"
          className={classes(rowClass, styles.shortcuts)}
          onClick={() => openDialog({ name: 'shortcuts' })}
        >
          <Row icon={<Icon shape={Keyboard} size={20} />} name="Сочетания клавиш" />
        </button>
      </Section>
      <Section title="Ваши данные">
        <SettingsLink to={PATHS.reports} icon={Flag} name="Мои жалобы" />
        {parts.download}
        <SettingsLink to={PATHS.deleteAccount} icon={UserRoundX} name="Удалить аккаунт" />
      </Section>
    </>
  )
}

type SettingsLinkProps = { to: string; icon: IconNode; name: string; value?: ReactNode }

function SettingsLink({ to, icon, name, value }: SettingsLinkProps) {
  return (
    <Link to={to} fromSettings className={rowClass}>
      <Row icon={<Icon shape={icon} size={20} />} name={name} about={value} withChevron />
    </Link>
  )
}

function ShownCounts() {
  const [areHidden, setAreHidden] = useState(() => localStore.read(NO_COUNTS_KEY) !== null)

  function hide(next: boolean): void {
    if (next) localStore.write(NO_COUNTS_KEY, 'yes')
    else localStore.remove(NO_COUNTS_KEY)
    if (next) pageFlags().noCounts = ''
    else delete pageFlags().noCounts
    setAreHidden(next)
  }

  return (
    <div className={rowClass}>
      <Checkbox
        label="Не показывать числа отметок и ответов в этом браузере"
        checked={areHidden}
        onChange={hide}
      />
    </div>
  )
}

type LogOutProps = { userId: string; onLoggedOut: () => void }

/** Asks for confirmation if logging out would delete unsent texts. */
function LogOut({ userId, onLoggedOut }: LogOutProps) {
  const [lost, setLost] = useState(0)
  const leaving = useAction({ mutationFn: logOut, onSuccess: onLoggedOut, errors: 'toast' })

  function ask(): void {
    const unsent = countUnsentTexts(userId)
    setLost(unsent)
    if (unsent === 0) leaving.mutate()
  }

  return (
    <>
      <button type="button" className={rowClass} aria-busy={leaving.isPending} onClick={ask}>
        <Row
          icon={leaving.isPending ? <Spinner size={20} /> : <Icon shape={LogOutShape} size={20} />}
          name="Выйти"
        />
      </button>
      <div role="alert">
        {lost > 0 && (
          <div className={classes('wrap', styles.lost)}>
            <p>
              {lost} {plural(lost, UNSENT)} {plural(lost, LOST)}.
            </p>
            <Button size="s" onClick={() => setLost(0)}>
              Остаться
            </Button>
            <Button size="s" variant="danger" onClick={() => leaving.mutate()}>
              Выйти всё равно
            </Button>
          </div>
        )}
      </div>
    </>
  )
}

const UNSENT = {
  one: 'неотправленный текст',
  few: 'неотправленных текста',
  many: 'неотправленных текстов',
}
const LOST = { one: 'пропадёт', few: 'пропадут', many: 'пропадут' }

/** Returns a function that goes back to the settings, so that «Назад» there does not lead here. */
export function useReturnToSettings(): () => void {
  const { pathname, fromSettings } = useEntry()

  return () => {
    if (!fromSettings) leave(pathname, PATHS.settings)
    else if (location.pathname === pathname) goBack(PATHS.settings)
  }
}
