import { useLocation } from 'react-router'
import { type Page, pageAt } from '../../contract/pages.ts'

export function usePage(): Page | null {
  return pageAt(useLocation().pathname)
}
