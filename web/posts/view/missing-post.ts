import { TITLES } from '../../../contract/pages.ts'

/** What is said in place of a post that does not exist. */
export const MISSING_POST = {
  title: TITLES.noPost,
  text: 'Запись не существует или была удалена',
}
