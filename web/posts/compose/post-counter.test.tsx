import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { PostCounter } from './post-counter.tsx'

test.each([
  [51, ''],
  [50, 'Осталось не больше 50 символов'],
  [11, 'Осталось не больше 25 символов'],
  [1, 'Осталось не больше 10 символов'],
  [0, 'Символов не осталось'],
  [-1, 'Текст слишком длинный'],
])('%i left are announced as «%s»', (left, announcement) => {
  const html = renderToString(<PostCounter left={left} />)
  expect(/role="status"><span[^>]*>([^<]*)</.exec(html)?.[1]).toBe(announcement)
})
