import { useLocation } from 'react-router'
import { type Page, pageAt } from '../../contract/pages.ts'

/** The page that the current address names; null where there is none. */
export function usePage(): Page | null {
  return pageAt(useLocation().pathname)
}
