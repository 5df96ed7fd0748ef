import { Modal } from '../ui/modal.tsx'
import styles from './shortcuts-dialog.module.css'

const SHORTCUTS = [
  { keys: ['J'], does: 'Следующая запись' },
  { keys: ['K'], does: 'Предыдущая запись' },
  { keys: ['Enter'], does: 'Открыть запись' },
  { keys: ['L'], does: 'Нравится' },
  { keys: ['R'], does: 'Ответить' },
  { keys: ['N'], does: 'Новая запись' },
  { keys: ['Ctrl', 'Enter'], does: 'Отправить написанное' },
  { keys: ['?'], does: 'Эта подсказка' },
]

/** Lists the shortcuts of a feed. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal title="Сочетания клавиш" size="s" onClose={onClose}>
      <dl>
        {SHORTCUTS.map(({ keys, does }) => (
          <div key={does} className={styles.row}>
            <dt>{does}</dt>
            <dd className={styles.keys}>
              {keys.map((key) => (
                <kbd key={key} className={styles.key}>
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p className={styles.note}>Буквенные клавиши работают в любой раскладке.</p>
    </Modal>
  )
}
