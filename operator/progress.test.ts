import { expect, test } from 'vitest'
import { progressLine, relayProgress } from './progress.ts'

const MINUTE = 60_000

test.each([
  ['copy', { done: 5, total: 1000, ms: 100 }, 'Копируем: 0 %'],
  ['copy', { done: 10, total: 1000, ms: 2 * MINUTE }, 'Копируем: 1 %, осталось около 3 ч 18 мин'],
  ['load', { done: 500, total: 1000, ms: 5 * MINUTE }, 'Загружаем: 50 %, осталось около 5 мин'],
  ['load', { done: 900, total: 1000, ms: MINUTE }, 'Загружаем: 90 %, осталось меньше минуты'],
  // More rows than the statistics say.
  ['copy', { done: 2000, total: 1000, ms: MINUTE }, 'Копируем: 99 %, осталось меньше минуты'],
  ['copy', { done: 2000, total: 0, ms: MINUTE }, 'Копируем: 2000'],
  ['count', { done: 2, total: 5, ms: 3 * MINUTE }, 'Сверяем счётчики: 40 %, осталось около 5 мин'],
  ['sum', { done: 50, total: 100, ms: 1000 }, 'Проверяем файл: 50 %'],
] as const)('%s of %j is shown as «%s»', (step, done, line) => {
  expect(progressLine(step, done)).toBe(line)
})

test('of the lines of another command only its progress is shown, without control characters', () => {
  const lines: string[] = []
  for (const line of ['Загружаем: 5 %\u001b]0;title\u0007', 'Ошибка', 'Копируем: 7']) {
    relayProgress(line, (shown) => lines.push(shown))
  }
  expect(lines).toEqual(['Загружаем: 5 %]0;title', 'Копируем: 7'])
})
