import { Read } from '../../http/read.tsx'
import { classes } from '../../ui/classes.ts'
import { Pause } from '../../ui/pause.tsx'
import { Spinner } from '../../ui/states/spinner.tsx'
import styles from './wall-state.module.css'
import { type StateLine, useWallState } from './wall-state.queries.ts'

const WORDS = { ok: 'в порядке', warning: 'нужно внимание', broken: 'не работает' }

/** Shows whether mail, backups, disk, database and version are well, below the queue. */
export function WallState() {
  return (
    <section className={classes('stack band', styles.state)} aria-label="Состояние">
      <h2>Состояние</h2>
      <Read query={useWallState()} inRow loading={<Spinner label="Загружаем состояние" />}>
        {({ lines }) => (
          <dl className="stack">
            {lines.map((line) => (
              <Part key={line.name} {...line} />
            ))}
          </dl>
        )}
      </Read>
    </section>
  )
}

function Part({ name, level, message, fix }: StateLine) {
  return (
    <div className={styles.part}>
      <dt className="line">
        {name}
        <Pause mark=":" />
        <span className={styles[level]}>{WORDS[level]}</span>
      </dt>
      <dd className="soft">
        {sentence(message)}
        {fix && ` ${sentence(fix)}`}
      </dd>
    </div>
  )
}

/** The doctor begins a message with a small letter. */
function sentence(text: string): string {
  return `${text.replace(/^[а-яё]/, (letter) => letter.toUpperCase()).replace(/(?<![.!?])$/, '.')}`
}
