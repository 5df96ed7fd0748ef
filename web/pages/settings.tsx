import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { PATHS } from '../../contract/pages.ts'
import { AccountSettings, useReturnToSettings } from '../account/account-settings.tsx'
import { EmailForm } from '../account/email-form.tsx'
import { UsernameForm } from '../account/username-form.tsx'
import { DeleteAccountForm } from '../account-deletion/delete-account-form.tsx'
import { receivedQuery, setReplyMails } from '../answers/answers.queries.ts'
import { DownloadData } from '../data-export/download-data.tsx'
import { usePage } from '../history/entry.tsx'
import { navigate } from '../history/history.ts'
import { usePageTitle } from '../history/use-page-title.ts'
import { useAction } from '../http/use-action.tsx'
import { forgetHidden } from '../posts/cache/hidden.ts'
import { textsChanged } from '../posts/compose/stored-drafts.ts'
import { forgetPerson, forgetTab } from '../session/forget-person.ts'
import { announceSessionChange, signedOut, useUser } from '../session/viewer.ts'
import { SessionsList } from '../sessions/sessions.tsx'
import { SiteLinks } from '../texts/site-links.tsx'
import { useOtherTheme } from '../theme/theme-toggle.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Icon } from '../ui/icon.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { Row, rowClass } from '../ui/row.tsx'

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
  const user = useUser()
  return user && <Content user={user} />
}

function Overview({ user }: { user: CurrentUser }) {
  return (
    <>
      <AccountSettings
        user={user}
        onLoggedOut={() => {
          showWallSignedOut(user.id)
          // Replaces another toast at once: its offer to cancel a sent decision is out of date.
          toast({ text: 'Вы вышли' }, { atOnce: true })
        }}
        download={<DownloadData />}
        replyMails={<ReplyMails />}
        theme={<ThemeRow />}
      />
      <SiteLinks />
    </>
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

/** Shows the setting whether the viewer receives mails about unseen replies. */
function ReplyMails() {
  const { data } = useQuery(receivedQuery)
  const set = useAction({ mutationFn: setReplyMails, errors: 'toast' })
  if (!data) return null
  const isOn = set.isPending ? set.variables : data.wantsMail
  return (
    <div className={rowClass}>
      <Checkbox label="Письма об ответах" checked={isOn ?? false} onChange={set.mutate} />
    </div>
  )
}
