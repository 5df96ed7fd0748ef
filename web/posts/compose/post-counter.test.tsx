import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { PostCounter } from './post-counter.tsx'

test.each([
  [51, undefined, ''],
  [50, '50', 'Осталось 50 символов или меньше'],
  [11, '11', 'Осталось 25 символов или меньше'],
  [1, '1', 'Осталось 10 символов или меньше'],
  [0, '0', 'Символов не осталось'],
  [-1, '−1', 'Текст слишком длинный'],
])('%i left are shown as %s and announced as «%s»', (left, shown, announcement) => {
  const html = renderToString(<PostCounter left={left} />)
  expect(/aria-hidden="true"[^>]*>([^<]*)</.exec(html)?.[1]).toBe(shown)
  expect(/aria-live[^>]*><span[^>]*>([^<]*)</.exec(html)?.[1]).toBe(announcement)
})
