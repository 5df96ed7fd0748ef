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

const POST = {
  id: '7',
  text: 'Купите гараж',
  reportedText: null,
  createdAt: 1_700_000_000,
  state: 'published',
  author: {
    id: '1',
    username: 'petr_petrov',
    createdAt: 1_699_963_200,
    posts: 4,
    removed: 1,
    recent: 0,
    block: { until: null, reason: 'Спам' },
  },
  since: 1_700_000_000,
  reporters: 2,
  reasons: [{ name: 'Спам или реклама', count: 2 }],
  comments: [],
  appeal: null,
  thread: { before: [], replies: [] },
}

test('until the queue is read, a labelled skeleton shows, not an empty queue', () => {
  const html = render()
  expect(html).toContain('Загружаем жалобы')
  expect(html).not.toContain('Жалоб нет')
  expect(render({ posts: [], total: 0 })).toContain('Жалоб нет')
})

test('a card counts its reports, and shows its author, until when that one is blocked, and why', () => {
  const html = render({ posts: [POST], total: 1 })
  expect(html).toContain('Пожаловались 2\u00a0человека')
  expect(html).toContain('с\u00a014\u00a0ноября\u00a02023 · 4\u00a0записи · удалено\u00a01 ·')
  expect(html).toContain('· заблокирован навсегда<')
  expect(html).toContain('Причина блокировки: <!-- -->Спам')
})
