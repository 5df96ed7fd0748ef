import { expect, test } from 'vitest'
import { nameBefore, namedBy, namesIn } from './mention-rules.ts'

test.each([
  ['@olga_v, привет', ['olga_v']],
  ['Спросите @Olga_V и @olga_v.', ['olga_v']],
  ['(@petr1)«@petr2»—@petr3', ['petr1', 'petr2', 'petr3']],
  ['@olga_v-то знает', ['olga_v']],
  ['@olga_v.Да', ['olga_v']],
  ['строка\n@olga_v', ['olga_v']],
  ['@olga', []],
  ['olga@petrov.example', []],
  ['@olga_v@example.org', []],
  ['@olga_v.example', []],
  ['@olga_long_x.ru', []],
  ['@olga_vа', []],
  ['@@olga_v', []],
  ['https://example.org/,@olga_v', []],
  ['example.org/@olga_v', []],
  [`@${'a'.repeat(33)}`, []],
  ['@petroſ', []],
])('%s names %j', (text, names) => {
  expect(namesIn(text)).toEqual(names)
})

test('a name means the user who has it now or had it in the text', () => {
  const mentions = [
    { id: '1', username: 'Olga_V' },
    { id: '2', username: 'petr_new', name: 'petr_old' },
  ]
  const meant = (name: string) => namedBy({ mentions }, name)
  expect(['olga_v', 'PETR_OLD', 'petr_new'].map(meant)).toEqual(['Olga_V', 'petr_new', undefined])
  expect(namedBy({}, 'olga_v')).toBeUndefined()
})

test.each<[string, ReturnType<typeof nameBefore>]>([
  ['привет @ol|', { at: 7, start: 'ol' }],
  ['@Olga_|', { at: 0, start: 'Olga_' }],
  ['@o|', null],
  ['@ol|ga', null],
  ['@ol |', null],
  ['olga@pe|', null],
  ['@ол|', null],
])('%s is the beginning of a name: %j', (text, begun) => {
  expect(nameBefore(text.replace('|', ''), text.indexOf('|'))).toEqual(begun)
})
