import { AtSign, Flag, Mail, MonitorSmartphone, ShieldCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import type { CurrentUser } from '../../contract/account.ts'
import { MODERATION_PATH, PATHS } from '../../contract/pages.ts'
import { call } from '../api/call.ts'
import { CallError } from '../api/call-error.ts'
import { errorMessage } from '../api/error-message.ts'
import { useSingleMutation } from '../api/use-single-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Row, rowClass } from '../ui/row.tsx'
import { Section } from '../ui/section.tsx'
import { useToast } from '../ui/toaster.tsx'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { signedOut } from '../viewer/viewer.ts'
import { removeEmailChange } from './saved-email-change.ts'
import styles from './settings.module.css'
import { FROM_SETTINGS } from './use-return-to-settings.ts'

type AccountSettingsProps = { user: CurrentUser; onLoggedOut: () => void }

/** The settings of the account: e-mail, username, devices, reports, and logging out. */
export function AccountSettings({ user, onLoggedOut }: AccountSettingsProps) {
  return (
    <>
      <Section title="Аккаунт">
        <SettingsLink
          to={PATHS.email}
          icon={<Mail size={20} aria-hidden />}
          name="Электронная почта"
          value={user.email}
        />
        <SettingsLink
          to={PATHS.username}
          icon={<AtSign size={20} aria-hidden />}
          name="Имя пользователя"
          value={user.username}
        />
      </Section>
      <Section title="Безопасность" isTitleHidden>
        <SettingsLink
          to={PATHS.devices}
          icon={<MonitorSmartphone size={20} aria-hidden />}
          name="Устройства"
        />
      </Section>
      <Section title="Жалобы" isTitleHidden>
        <SettingsLink to={PATHS.reports} icon={<Flag size={20} aria-hidden />} name="Мои жалобы" />
        {user.isModerator && (
          <SettingsLink
            to={MODERATION_PATH}
            icon={<ShieldCheck size={20} aria-hidden />}
            name="Жалобы"
            value="Записи, которые ждут решения"
          />
        )}
      </Section>
      <div className={styles.foot}>
        <LogOut onLoggedOut={onLoggedOut} />
      </div>
    </>
  )
}

type SettingsLinkProps = { to: string; icon: ReactNode; name: string; value?: string }

/** A setting with its current value, and a link to the page that changes it. */
function SettingsLink({ to, icon, name, value }: SettingsLinkProps) {
  return (
    <Link to={to} state={FROM_SETTINGS} className={rowClass}>
      <Row icon={icon} name={name} about={value} leadsOn />
    </Link>
  )
}

/**
 * Closes this session and goes to the wall; a session that was closed elsewhere meanwhile counts as closed. `onLoggedOut`
 * removes from the browser what belongs to the person.
 */
function LogOut({ onLoggedOut }: { onLoggedOut: () => void }) {
  const navigate = useNavigate()
  const toast = useToast()
  const logOut = useSingleMutation({
    mutationFn: closeCurrentSession,
    onSuccess: async () => {
      removeEmailChange()
      onLoggedOut()
      await navigate(PATHS.wall)
      signedOut()
      announceSessionChange()
    },
    onError: (error) => toast({ text: errorMessage(error) }),
  })

  return (
    <Button pending={logOut.isPending} onClick={() => logOut.mutate()}>
      Выйти
    </Button>
  )
}

async function closeCurrentSession(): Promise<void> {
  try {
    await call('DELETE /sessions/current', {})
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) throw error
  }
}
