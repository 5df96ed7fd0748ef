/** What is said in place of a post that does not exist. */
export const MISSING_POST = {
  title: 'Запись не найдена',
  text: 'Запись не существует или была удалена',
}
