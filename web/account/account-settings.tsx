import { AtSign, Mail, MonitorSmartphone } from 'lucide-react'
import type { CurrentUser } from '../../contract/account.ts'
import { LogOut } from './log-out.tsx'
import styles from './settings.module.css'
import { SettingsRow } from './settings-row.tsx'

/** The account's e-mail and username, the devices, the way out. */
export function AccountSettings({ user }: { user: CurrentUser }) {
  return (
    <>
      <section className={styles.section} aria-labelledby="account">
        <h2 className={styles.heading} id="account">
          Аккаунт
        </h2>
        <SettingsRow
          to="/settings/account/email"
          icon={<Mail size={20} aria-hidden />}
          label="Электронная почта"
          value={user.email}
        />
        <SettingsRow
          to="/settings/account/username"
          icon={<AtSign size={20} aria-hidden />}
          label="Имя пользователя"
          value={user.username}
        />
      </section>
      <section className={styles.section} aria-label="Безопасность">
        <SettingsRow
          to="/settings/devices"
          icon={<MonitorSmartphone size={20} aria-hidden />}
          label="Устройства"
        />
      </section>
      <div className={styles.foot}>
        <LogOut />
      </div>
    </>
  )
}
