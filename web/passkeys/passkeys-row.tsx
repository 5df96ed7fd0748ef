import { KeyRound } from 'lucide'
import { PATHS } from '../../contract/pages.ts'
import { arePasskeysAllowed } from '../platform/passkeys-allowed.ts'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { usePasskeys } from './passkeys.queries.ts'
import styles from './passkeys-row.module.css'

/** Says what happens if the mailbox is lost. */
export function outlook(passkeys: readonly unknown[]): string {
  return passkeys.length > 0
    ? 'Если почта пропадёт, войти можно ключом'
    : 'Если почта пропадёт, войти будет нечем: добавьте ключ'
}

/** Shows the row of the settings, where passkeys can be had. */
export function PasskeysSection() {
  return arePasskeysAllowed() && <PasskeysRow />
}

function PasskeysRow() {
  const { data } = usePasskeys()
  const shown = data && outlook(data)
  const longer = outlook([])
  return (
    <Section title="Вход">
      <a href={PATHS.passkeys} className={rowClass}>
        <Row
          icon={<Icon shape={KeyRound} size={20} />}
          name="Ключи доступа"
          about={
            <span className={styles.outlook}>
              {shown !== longer && (
                <span className={styles.longer} aria-hidden="true">
                  {longer}
                </span>
              )}
              <span>{shown}</span>
            </span>
          }
          withChevron
        />
      </a>
    </Section>
  )
}
