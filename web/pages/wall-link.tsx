import { Link } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { buttonClass } from '../ui/button.tsx'

/** The way to the wall from a page that has nothing to show. */
export function WallLink() {
  return (
    <Link to={PATHS.wall} className={buttonClass({ variant: 'strong' })}>
      На стену
    </Link>
  )
}
