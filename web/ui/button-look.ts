import styles from './button.module.css'
import { classes } from './classes.ts'

type ButtonVariant = 'primary' | 'strong' | 'quiet' | 'danger' | 'plain'
type ButtonSize = 'm' | 's'

export type ButtonLook = {
  variant?: ButtonVariant | undefined
  size?: ButtonSize | undefined
  wide?: boolean | undefined
}

/** The class of a button, for a link that must look like one: <Link className={buttonLook({…})}>. */
export function buttonLook({ variant = 'quiet', size = 'm', wide = false }: ButtonLook): string {
  return classes(styles.button, styles[variant], styles[size], wide && styles.wide)
}
