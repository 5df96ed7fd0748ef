import { POST_COUNTER_FROM } from '../../../contract/constants.ts'
import { plural } from '../../format/counts.ts'
import { classes } from '../../ui/classes.ts'
import { liveRegion } from '../../ui/live-region.ts'
import styles from './post-form.module.css'

const FORMS = { one: 'символ', few: 'символа', many: 'символов' }
/** Only these numbers are announced; announcing every key press would drown out the text. */
const STEPS = [10, 25, POST_COUNTER_FROM]

export function PostCounter({ left }: { left: number }) {
  const announced = announcement(left)
  return (
    <>
      {left <= POST_COUNTER_FROM && (
        <span className={classes('soft', styles.counter)} data-over={left < 0} aria-hidden="true">
          {left < 0 ? `−${-left}` : left}
        </span>
      )}
      <span {...liveRegion(announced !== '')}>
        <span className="visually-hidden">{announced}</span>
      </span>
    </>
  )
}

function announcement(left: number): string {
  if (left < 0) return 'Текст слишком длинный'
  if (left === 0) return 'Символов не осталось'
  const step = STEPS.find((candidate) => left <= candidate)
  return step === undefined ? '' : `Осталось ${step} ${plural(step, FORMS)} или меньше`
}
