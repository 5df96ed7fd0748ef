import { AtSign, Mail, MonitorSmartphone } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CurrentUser } from '../../contract/account.ts'
import { PATHS } from '../../contract/pages.ts'
import { Row, rowClass } from '../ui/row.tsx'
import { Section } from '../ui/section.tsx'
import { LogOut } from './log-out.tsx'
import styles from './settings.module.css'
import { FROM_SETTINGS } from './use-return-to-settings.ts'

type AccountSettingsProps = { user: CurrentUser; onLoggedOut: () => void }

/** The settings of the account: e-mail, username, devices, and logging out. */
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
