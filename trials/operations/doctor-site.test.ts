import { expect, test } from 'vitest'
import { examine, startWall } from '../../server/testing/examined-wall.ts'

test('for a healthy wall the doctor lists every check in order, finds nothing broken, and exits with 0', {
  timeout: 120_000,
}, async () => {
  const { env } = await startWall()
  const { code, found } = await examine(env)
  const broken = Object.values(found).filter(({ level }) => level === 'broken')
  expect({ code, broken }).toEqual({ code: 0, broken: [] })
  expect(Object.keys(found)).toEqual(
    'settings,pages,versions,parts,database,clock,public url,certificate,proxy,ready,smtp,mail domain,mails,refused mails,backup,counters,jobs,open,secret'.split(
      ',',
    ),
  )
  expect(found.certificate).toMatchObject({ message: expect.stringMatching(/ещё 89 дн/) })
})
