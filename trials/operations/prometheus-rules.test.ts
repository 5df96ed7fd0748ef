import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { APP_SECRET } from '../../e2e/testing/product.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { endChild } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { programOf, ROOT, run } from './deploy-file.ts'

const RULES = join(ROOT, 'deploy/prometheus-rules.yml')
const DASHBOARD = join(ROOT, 'deploy/grafana-dashboard.json')
const ALERTS = join(ROOT, 'docs/alerts.md')

const promtool = await programOf('prometheus', '/usr/bin/promtool')
const prometheus = await programOf('prometheus', '/usr/bin/prometheus')

type Unit = [alert: string, minutes: number, ...series: string[]]

const requests = (labels: string, values: string) =>
  `vslukh_http_request_duration_seconds_count{${labels}} ${values}`
const within = (seconds: string, values: string) =>
  `vslukh_http_request_duration_seconds_bucket{le="${seconds}"} ${values}`

/** Series that fire an alert after so many minutes. */
const FIRING: Unit[] = [
  ['VslukhDown', 5, 'up{job="vslukh"} 0x60'],
  ['VslukhDatabaseDown', 5, 'vslukh_database_up 0x60'],
  ['VslukhErrors', 20, requests('status="200"', '0+90x60'), requests('status="503"', '0+10x60')],
  ['VslukhSlow', 30, within('1', '0+90x60'), within('3', '0+100x60'), within('+Inf', '0+100x60')],
  ['VslukhEventLoopBlocked', 20, 'nodejs_eventloop_lag_p99_seconds{job="vslukh"} 0.3x60'],
  ['VslukhMailsWait', 5, 'vslukh_mail_oldest_seconds 301x60'],
  ['VslukhMailsRefused', 5, 'vslukh_new_address_mails_slowed 1x60'],
  ['VslukhDiskFull', 380, 'vslukh_disk_free_bytes 15e9-12e6x400', 'vslukh_disk_bytes 100e9x400'],
  ['VslukhDiskFull', 15, 'vslukh_disk_free_bytes 0.9e9x60'],
  ['VslukhBackupOld', 90, 'vslukh_backup_age_seconds 200000x100'],
  // No backup was ever made, for three days.
  ['VslukhBackupOld', 4320, 'vslukh_backup_failed 0x4320'],
  ['VslukhBackupFailed', 10, 'vslukh_backup_failed 1x60'],
  ['VslukhBackupFailed', 10, 'vslukh_backup_verification_failed 1x60'],
  ['VslukhClockWrong', 10, 'vslukh_clock_skew_seconds -31x60'],
  ['VslukhCountersDiffer', 5, 'vslukh_counter_differences 1x60'],
]

const QUIET: Unit[] = [
  ['VslukhDown', 5, 'up{job="vslukh"} 1x60', 'up{job="another"} 0x60'],
  ['VslukhDatabaseDown', 5, 'vslukh_database_up 1x60'],
  [
    'VslukhErrors',
    20,
    requests('status="200"', '0+50x60'),
    requests('status="404"', '0+50x60'),
    requests('status="500"', '0+1x60'),
  ],
  ['VslukhSlow', 30, within('1', '0+100x60'), within('3', '0+100x60'), within('+Inf', '0+100x60')],
  ['VslukhEventLoopBlocked', 20, 'nodejs_eventloop_lag_p99_seconds{job="vslukh"} 0.02x60'],
  ['VslukhMailsWait', 5, 'vslukh_mail_oldest_seconds 20x60'],
  ['VslukhMailsRefused', 5, 'vslukh_new_address_mails_slowed 0x60', 'vslukh_codes_refused 3x60'],
  ['VslukhDiskFull', 380, 'vslukh_disk_free_bytes 15e9-1e6x400', 'vslukh_disk_bytes 100e9x400'],
  // Some GB of temporary files beside 64 that are free, on a Prometheus that has just been
  // started and on an old one.
  [
    'VslukhDiskFull',
    30,
    'vslukh_disk_free_bytes 64e9-300e6x15 60e9x60',
    'vslukh_disk_bytes 80e9x80',
  ],
  ['VslukhDiskFull', 380, 'vslukh_disk_free_bytes 64e9-80e6x400', 'vslukh_disk_bytes 80e9x400'],
  ['VslukhDiskFull', 50, 'vslukh_disk_free_bytes 15e9-100e6x60', 'vslukh_disk_bytes 100e9x60'],
  ['VslukhBackupOld', 90, 'vslukh_backup_age_seconds 90000x100'],
  ['VslukhBackupOld', 1440, 'vslukh_backup_failed 0x1440'],
  ['VslukhBackupOld', 4320, 'vslukh_backup_failed 0x4320', 'vslukh_backup_age_seconds 90000x4320'],
  ['VslukhBackupFailed', 10, 'vslukh_backup_failed 0x60', 'vslukh_backup_verification_failed 0x60'],
  ['VslukhClockWrong', 10, 'vslukh_clock_skew_seconds 3x60'],
  ['VslukhCountersDiffer', 5, 'vslukh_counter_differences 0x60'],
]

/** Writes a unit test of promtool: an alert fires for these series, or does not. */
function unitTest([alert, minutes, ...series]: Unit, fires: boolean) {
  const inputs = series.map((line) => {
    const [, name, values] = /^(\S+) (.*)$/.exec(line) ?? []
    return { series: name, values }
  })
  // The series ALERTS shows whether an alert fires, without a copy of its labels and words.
  const check = {
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: `${minutes}m`,
    exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
  }
  const name = `${alert} ${fires}`
  return { name, interval: '1m', input_series: inputs, promql_expr_test: [check] }
}

test('promtool accepts the rules, each of which has a line in docs/alerts.md, and each alert fires for its fault and for nothing less', async () => {
  const named = (await readFile(RULES, 'utf8')).match(/(?<=alert: )\w+/g)
  const described = (await readFile(ALERTS, 'utf8')).match(/(?<=^\| `)\w+/gm)
  expect(described).toEqual(named)
  expect([...new Set(FIRING.map(([alert]) => alert))]).toEqual(named)
  expect([...new Set(QUIET.map(([alert]) => alert))]).toEqual(named)
  const tests = [
    ...FIRING.map((unit) => unitTest(unit, true)),
    ...QUIET.map((unit) => unitTest(unit, false)),
  ]
  const path = join(await folderForTest(), 'units.yml')
  // JSON is YAML.
  await writeFile(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  expect((await run(promtool, ['test', 'rules', path])).stdout).toContain('SUCCESS')
})

type Panel = { datasource: { uid: string }; targets: { expr: string }[] }

/** Returns the names of metrics in an expression, without labels, strings and functions. */
function metricsIn(text: string): string[] {
  return text.replaceAll(/"[^"]*"/g, '').match(/\b(?:vslukh|nodejs|process)_\w+/g) ?? []
}

/** Starts a Prometheus with the rules that scrapes this port. Returns what its API answers. */
async function startPrometheus(metricsPort: string) {
  const folder = await folderForTest()
  const address = `127.0.0.1:${await freePort()}`
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [RULES],
    scrape_configs: [
      { job_name: 'vslukh', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] },
    ],
  }
  const path = join(folder, 'prometheus.yml')
  await writeFile(path, JSON.stringify(config))
  const options = ['--config.file', path, '--storage.tsdb.path', join(folder, 'data')]
  const child = spawn(prometheus, [...options, '--web.listen-address', address], {
    stdio: 'ignore',
  })
  onTestFinished(() => endChild(child))
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady).toBe(true)
  return async (name: string, query: Record<string, string> = {}) => {
    const answer = await fetch(`http://${address}/api/v1/${name}?${new URLSearchParams(query)}`)
    return (await answer.json()).data
  }
}

test('the dashboard of Grafana draws each metric of an alert, and a Prometheus that scrapes a wall has a number for each of its queries, and for no rule an error', async () => {
  const METRICS_PORT = String(await freePort())
  const database = closeAfterTest(await openPostgresProxy(await databaseForTest('template0')))
  const DATA_DIR = await folderForTest()
  const BACKUP_DIR = join(DATA_DIR, 'backups')
  const env = { DATA_DIR, DATABASE_URL: database.url, APP_SECRET, BACKUP_DIR }
  const { url, client } = await startWall({ ...env, METRICS_PORT })
  expect(await runCommand(env, 'backup', BACKUP_DIR)).toMatchObject({ code: 0 })
  await client.signIn(EMAIL)
  database.cut()
  // Some panels count requests that failed.
  await expect.poll(async () => (await client.call('GET', '/posts/1')).status).toBe(503)
  database.repair()

  const { panels, templating } = JSON.parse(await readFile(DASHBOARD, 'utf8'))
  const expressions = (panels as Panel[]).flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const drawn = new Set(expressions.flatMap(metricsIn))
  const alerted = new Set(metricsIn(await readFile(RULES, 'utf8')))
  expect([...alerted].filter((name) => !drawn.has(name))).toEqual([])
  expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }])
  for (const { datasource } of panels) expect(datasource.uid).toMatch(/^\$\{datasource\}$/)

  const ask = await startPrometheus(METRICS_PORT)
  type Sample = { value: [time: number, value: string] }
  const hasNumber = async (query: string) => {
    const { result }: { result: Sample[] } = await ask('query', { query })
    return result.some(({ value }) => value[1] !== 'NaN')
  }
  const emptyQueries = async () => {
    // Times until the answer are those of requests since the scrape before.
    await fetch(url)
    const isDrawn = await Promise.all(expressions.map(hasNumber))
    return expressions.filter((_, n) => !isDrawn[n])
  }
  await expect.poll(emptyQueries).toEqual([])
  type Group = { rules: { name: string; health: string; lastError?: string }[] }
  const { groups }: { groups: Group[] } = await ask('rules')
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.length).toBeGreaterThan(0)
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
})
