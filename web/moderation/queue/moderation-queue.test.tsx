import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { entryAt, HistoryProvider } from '../../history/entry.tsx'
import { ModerationQueue } from './moderation-queue.tsx'

/** Renders the queue with this answer in the cache; without one, the queue is loading. */
function render(answer?: { posts: object[]; total: number }): string {
  const client = new QueryClient()
  if (answer) client.setQueryData(['moderation-queue'], answer)
  return renderToString(
    <QueryClientProvider client={client}>
      <HistoryProvider entry={entryAt('/moderation')}>
        <ModerationQueue />
      </HistoryProvider>
    </QueryClientProvider>,
  )
}

const post = (id: string, reporters: number) => ({
  id,
  text: 'Купите гараж',
  reportedText: null,
  createdAt: 1_700_000_000,
  state: 'published',
  author: {
    id: '1',
    username: 'petr_petrov',
    createdAt: 1_699_963_200,
    posts: 4,
    removed: reporters - 1,
    recent: 0,
    block: null,
  },
  since: 1_700_000_000,
  reporters,
  reasons: [{ name: 'Спам или реклама', count: reporters }],
  comments: [],
  appeal: null,
  thread: { before: [], replies: [] },
})

test('until the queue is read, a labelled skeleton shows, not an empty queue', () => {
  const html = render()
  expect(html).toContain('Загружаем жалобы')
  expect(html).not.toContain('Жалоб нет')
  expect(render({ posts: [], total: 0 })).toContain('Жалоб нет')
})

test.each([
  [1, 'Пожаловался 1\u00a0человек', '4\u00a0записи<'],
  [2, 'Пожаловались 2\u00a0человека', '4\u00a0записи · удалено\u00a01<'],
  [5, 'Пожаловались 5\u00a0человек', '4\u00a0записи · удалено\u00a04<'],
])('a card of %i reports counts them and shows its author', (reporters, words, author) => {
  const html = render({ posts: [post('7', reporters)], total: 1 })
  expect(html).toContain(words)
  expect(html).toContain(`с\u00a014\u00a0ноября\u00a02023 · ${author}`)
})

test('a card shows until when its author is blocked, and why', () => {
  const blocked = post('7', 1)
  const author = { ...blocked.author, block: { until: null, reason: 'Спам' } }
  const html = render({ posts: [{ ...blocked, author }], total: 1 })
  expect(html).toContain('· заблокирован навсегда<')
  expect(html).toContain('Причина блокировки: <!-- -->Спам')
})
