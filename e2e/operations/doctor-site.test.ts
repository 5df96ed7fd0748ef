import { expect, test } from 'vitest'
import { certificateForTest } from '../../server/testing/certificate.ts'
import {
  examine,
  expectFinding,
  proxyTo,
  serve,
  startWall,
} from '../../server/testing/examined-wall.ts'

test('of a wall where all is well every check says so in order, with exit code 0; what stands before it is named when it is wrong', {
  timeout: 120_000,
}, async () => {
  const { env, target, certificate, stop } = await startWall()
  const { code, found } = await examine(env)
  const broken = Object.values(found).filter(({ level }) => level === 'broken')
  expect({ code, broken }).toEqual({ code: 0, broken: [] })
  expect(Object.keys(found)).toEqual(
    'versions,settings,database,clock,public url,certificate,proxy,ready,smtp,mails,mail domain,backup,counters,jobs,open,secret'.split(
      ',',
    ),
  )
  expect(found.certificate).toMatchObject({ message: expect.stringMatching(/ещё 89 дн/) })

  const short = await certificateForTest(5)
  const stranger = await serve((_, response) => response.writeHead(200).end('hello'), certificate)
  const silent = await serve(proxyTo(target, { isSilent: true }), certificate)
  const untrusted = await serve(proxyTo(target, { localAddress: '127.0.0.2' }), certificate)
  const soonOver = await serve(proxyTo(target, {}), short)
  await Promise.all([
    expectFinding({ ...env, PUBLIC_URL: stranger }, 'public url', {
      level: 'broken',
      message: /отвечает не этот сервер/,
      fix: /PUBLIC_URL/,
    }),
    expectFinding({ ...env, PUBLIC_URL: untrusted }, 'proxy', {
      level: 'broken',
      message: /прокси 127\.0\.0\.2 передаёт/,
      fix: /TRUST_PROXY=127\.0\.0\.1,127\.0\.0\.2/,
    }),
    expectFinding({ ...env, PUBLIC_URL: silent }, 'proxy', {
      level: 'broken',
      message: /не передаёт X-Forwarded-For/,
      fix: /Behind a proxy/,
    }),
    expectFinding(
      { ...env, PUBLIC_URL: soonOver, NODE_EXTRA_CA_CERTS: short.path },
      'certificate',
      {
        level: 'warning',
        message: /ещё 4 дн/,
        fix: /Обновите/,
      },
    ),
    expectFinding({ ...env, NODE_EXTRA_CA_CERTS: '' }, 'certificate', {
      level: 'broken',
      message: /не годится: self-signed/,
      fix: /цепочкой/,
    }),
  ])
  await stop()
  await expectFinding(env, 'public url', {
    level: 'broken',
    message: /не этот сервер/,
    fix: /прокси/,
  })
})
