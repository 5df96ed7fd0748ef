import { useState } from 'react'
import { classes } from '../ui/classes.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import keyStyles from '../ui/key.module.css'
import { Modal } from '../ui/overlay/modal.tsx'
import { areLettersOn, setLettersOn } from '../ui/shortcuts.ts'
import styles from './shortcuts-dialog.module.css'

const SHORTCUTS = [
  { keys: ['J'], description: 'Следующая запись' },
  { keys: ['K'], description: 'Предыдущая запись' },
  { keys: ['Enter'], description: 'Открыть запись' },
  { keys: ['L'], description: 'Нравится' },
  { keys: ['R'], description: 'Ответить' },
  { keys: ['N'], description: 'Новая запись' },
  { keys: ['G'], description: 'Ответы мне' },
  { keys: ['/'], description: 'Поиск' },
  { keys: ['Ctrl', 'Enter'], description: 'Отправить написанное' },
  { keys: ['?'], description: 'Эта подсказка' },
]

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [areOn, setAreOn] = useState(areLettersOn)
  function setOn(next: boolean): void {
    setLettersOn(next)
    setAreOn(next)
  }
  return (
    <Modal title="Сочетания клавиш" onClose={onClose}>
      <dl>
        {SHORTCUTS.map(({ keys, description }) => (
          <div key={description} className={classes('line', styles.row)}>
            <dt>{description}</dt>
            <dd className={classes('line', styles.keys)}>
              {keys.map((key) => (
                <kbd key={key} className={keyStyles.key}>
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p className={classes('soft', styles.note)}>Буквенные клавиши работают в любой раскладке.</p>
      <Checkbox label="Буквенные клавиши включены" checked={areOn} onChange={setOn} />
    </Modal>
  )
}
