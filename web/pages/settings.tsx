import { useQuery } from '@tanstack/react-query'
import {
  AtSign,
  EyeOff,
  Flag,
  type IconNode,
  Keyboard,
  Mail,
  MonitorSmartphone,
  Rss,
  ShieldCheck,
  UserRoundX,
} from 'lucide'
import type { ComponentType, ReactNode } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { authorPath, feedPath, MODERATION_PATH, PATHS } from '../../contract/pages.ts'
import styles from '../account/account-settings.module.css'
import { LogOut, ShownCounts, useReturnToSettings } from '../account/account-settings.tsx'
import { EmailForm } from '../account/email-form.tsx'
import { UsernameForm } from '../account/username-form.tsx'
import { DeleteAccountForm } from '../account-deletion/delete-account-form.tsx'
import { receivedQuery, setReplyMails } from '../answers/answers.queries.ts'
import { DownloadData } from '../data-export/download-data.tsx'
import { setButtonPages, useButtonPages } from '../feed/button-pages.ts'
import { moderationLabel } from '../format/labels.ts'
import { usePage, usePageTitle } from '../history/entry.tsx'
import { navigate, openDialog } from '../history/history.ts'
import { PasskeysSection } from '../passkeys/passkeys-row.tsx'
import { forgetHidden } from '../posts/cache/hidden.ts'
import { textsChanged } from '../posts/compose/stored-texts.ts'
import { forgetPerson, forgetTab } from '../session/forget-person.ts'
import { useAction } from '../session/use-action.tsx'
import { announceSessionChange, signedOut, useLastUser } from '../session/viewer.ts'
import { SessionsList } from '../sessions/sessions.tsx'
import { SiteLinks } from '../texts/site-links.tsx'
import { useOtherTheme } from '../theme/theme-toggle.tsx'
import { classes } from '../ui/classes.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { EmailText } from '../ui/form/email-text.tsx'
import { Icon } from '../ui/icon.tsx'
import { Monogram } from '../ui/monogram.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'

/** The pages below /settings by their names in contract/pages.ts. */
const PAGES = {
  settings: ['Настройки', Overview],
  email: ['Электронная почта', EmailForm],
  username: ['Имя пользователя', UsernameForm],
  devices: ['Устройства', SessionsList],
  deleteAccount: ['Удаление аккаунта', DeleteAccount],
} satisfies Record<string, [title: string, Content: ComponentType<{ user: CurrentUser }>]>

export type SettingsPageName = keyof typeof PAGES

export function SettingsPage() {
  const name = usePage()?.name as SettingsPageName
  const [title, Content] = PAGES[name]
  usePageTitle(title)
  const user = useLastUser()
  return user && <Content user={user} />
}

function Overview({ user }: { user: CurrentUser }) {
  return (
    <>
      <a href={authorPath(user.username)} className={classes(rowClass, styles.own)}>
        <Row
          icon={<Monogram name={user.username} />}
          name={user.username}
          about="Моя страница"
          withChevron
        />
      </a>
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
        <LogOut userId={user.id} onLoggedOut={() => showLoggedOut(user.id)} />
      </div>
      <PasskeysSection />
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
        <ReplyMails />
        <SettingsLink
          to={feedPath('received', user.username)}
          icon={Rss}
          name="Лента ответов и упоминаний"
          value="Для программ чтения. Открыта всем: скрытые вами авторы в ней есть"
        />
        <ShownCounts />
        <ButtonPages />
        <ThemeRow />
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
        <DownloadData />
        <SettingsLink to={PATHS.deleteAccount} icon={UserRoundX} name="Удалить аккаунт" />
      </Section>
      <SiteLinks />
    </>
  )
}

type SettingsLinkProps = { to: string; icon: IconNode; name: string; value?: ReactNode }

function SettingsLink({ to, icon, name, value }: SettingsLinkProps) {
  return (
    <a href={to} className={rowClass}>
      <Row icon={<Icon shape={icon} size={20} />} name={name} about={value} withChevron />
    </a>
  )
}

function ThemeRow() {
  const { label, icon, choose } = useOtherTheme()
  return (
    <button type="button" className={rowClass} onClick={choose}>
      <Row icon={<Icon shape={icon} size={20} />} name={label} />
    </button>
  )
}

function showLoggedOut(userId: string): void {
  showWallSignedOut(userId)
  // Replaces another toast at once: its offer to cancel a sent decision is out of date.
  toast({ text: 'Вы вышли' })
}

/** Deletes all data of the user, even drafts, which stay if a session ends by itself. */
function showWallSignedOut(userId: string): void {
  forgetPerson(userId)
  forgetTab()
  textsChanged.emit()
  forgetHidden()
  // Navigates before signedOut(), after which the guard would replace the entry of the settings.
  navigate(PATHS.wall)
  signedOut()
  announceSessionChange(true)
}

function DeleteAccount({ user }: { user: CurrentUser }) {
  const leave = useReturnToSettings()
  return (
    <DeleteAccountForm user={user} onDeleted={() => showWallSignedOut(user.id)} onCancel={leave} />
  )
}

function ButtonPages() {
  return (
    <div className={rowClass}>
      <Checkbox
        label="Страницы кнопкой «Ещё 10», а не прокруткой, в этом браузере"
        checked={useButtonPages()}
        onChange={setButtonPages}
      />
    </div>
  )
}

/** Shows the setting whether the viewer receives mails about unseen replies. */
function ReplyMails() {
  const { data } = useQuery(receivedQuery)
  // The scope makes the last choice count.
  const set = useAction({
    mutationFn: setReplyMails,
    scope: { id: 'reply-mails' },
    errors: 'toast',
  })
  if (!data) return null
  const isOn = set.isPending ? set.variables : data.wantsMail
  return (
    <div className={rowClass}>
      <Checkbox
        label="Письма об ответах и упоминаниях"
        checked={isOn ?? false}
        onChange={set.mutate}
      />
    </div>
  )
}
