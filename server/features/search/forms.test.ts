import { expect, test } from 'vitest'
import type { FoundPage } from '../../../contract/search.ts'
import { appForFile } from '../../testing/test-app.ts'

/** Words drawn at random from Debian's Russian dictionary, irregular and rare ones too, each with one of its forms. */
const DICTIONARY = `
отчуждавшийся отчуждавшейся, реденький реденькому, приютский приютской, радиохимический радиохимических,
очнуться очнешься, отрезать отрезала, скоропреходящий скоропреходящими, стосковавшийся стосковавшимся,
грамположительный грамположительных, педагог педагогов, поплиновый поплиновою, ломающий ломающими,
противочумный противочумные, прогуляться прогуляйся, желанье желанья, отпарировавший отпарировавшем,
раззадоренный раззадоренным, отрапортовавший отрапортовавшее, сильвинит сильвиниту, ошкуривший ошкурившие,
проказник проказников, замедливший замедлившему, пригласить пригласили, ананасный ананасную,
скачивавший скачивавшему, отгородить отгородило, запер заперло, переволочённый переволочённые, затаиться затаилась,
перегородивший перегородившей, изощрённость изощрённостью, отужинавший отужинавшее, трофейный трофейном,
анкарец анкарцами, опосредствовавший опосредствовавшего, неверный неверной, абсолютизированный абсолютизированному,
перекрытый перекрыты, выхолащивать выхолащиваем, увиденный увиденной, готовить готовлю, перекрещение перекрещении,
автомотосекция автомотосекциею, спад спадам, правдашний правдашнем, повыдергать повыдергаем,
ихний ихнего, окуневый окуневой, внешкольный внешкольную, причинять причиняли, внемлющий внемлющего,
дебильный дебильною, биография биографиям, прокалывавшийся прокалывавшихся, пережёвываемый пережёвываемое,
антифриз антифризе, привертывать привертываешь, заглотать заглотаю, размагничивавший размагничивавшая,
боярышник боярышнику, крохоборствующий крохоборствующею, белокурый белокурой, уряжавшийся уряжавшеюся,
услаждение услаждению, распоясываться распоясываясь, взбрыкивание взбрыкиванию, подбрасывать подбрасывая,
перезанимать перезанимают, валявшийся валявшимся, мобила мобилам, хемосорбция хемосорбцию, ламбрекен ламбрекеном,
нитроцементация нитроцементацией, ненасыщенный ненасыщенном, бриг бриги, морс морсов
`

const pairsIn = (list: string) =>
  list
    .trim()
    .split(/,\s+/)
    .map((pair) => pair.split(' ') as [word: string, form: string])

const app = await appForFile()

/** In quotes, a word is found by its forms alone. */
async function textsBy(form: string): Promise<string[]> {
  const q = encodeURIComponent(`"${form}"`)
  const { posts }: FoundPage = (await app.call('GET', `/posts/search?q=${q}&limit=50`)).body
  return posts.map(({ text }) => text)
}

test('96 of 100 forms of the dictionary find their word, and hardly one finds another word', async () => {
  const pairs = pairsIn(DICTIONARY)
  const { id } = await app.signUp()
  const words = pairs.map(([word]) => word)
  await app.sql`INSERT INTO posts (owner_id, text) SELECT ${id}, unnest(${words}::text[])`
  const missed: string[] = []
  const wrong: string[] = []
  for (const [word, form] of pairs) {
    const found = await textsBy(form)
    if (!found.includes(word)) missed.push(form)
    for (const text of found) if (text !== word) wrong.push(`${form}: ${text}`)
  }
  expect(missed.length, missed.join()).toBeLessThanOrEqual(0.04 * pairs.length)
  expect(wrong.length, wrong.join()).toBeLessThanOrEqual(0.02 * pairs.length)
})

test('everyday words, and those of which Snowball cuts a form too short or too long', async () => {
  const pairs = pairsIn(`Трамваи трамвая, Запись записи, Пирожок пирожками, Готовить готовлю,
    Ёлка елками, Работают работаешь, Новостью новостях, Тёплого теплую`)
  const user = await app.signUp()
  for (const text of [...pairs.map(([word]) => word), 'Котёл', 'Который']) {
    await app.publish(user, text)
  }
  for (const [word, form] of pairs) expect(await textsBy(form)).toContain(word)
  expect(await textsBy('кот')).toEqual([])
})
