import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { programOf, ROOT, run } from './deploy-file.ts'

const RULES = join(ROOT, 'deploy/prometheus-rules.yml')
const DASHBOARD = join(ROOT, 'deploy/grafana-dashboard.json')
const ALERTS = join(ROOT, 'docs/alerts.md')

const promtool = await programOf('prometheus', '/usr/bin/promtool')

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

test('the dashboard of Grafana has only metrics that the server exports and expressions that promtool accepts, and draws each metric of an alert', async () => {
  const folder = await folderForTest()
  const METRICS_PORT = String(await freePort())
  const BACKUP_DIR = join(folder, 'backups')
  const wall = await startWall({ DATA_DIR: folder, METRICS_PORT, BACKUP_DIR })
  expect(await runCommand({ DATA_DIR: folder }, 'backup', BACKUP_DIR)).toMatchObject({ code: 0 })
  await wall.client.signIn(EMAIL)
  const scrape = async () => (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  await expect.poll(scrape).toContain('vslukh_mails_total{')
  const scraped = await scrape()
  await wall.stop()
  const exported = new Set(scraped.match(/^[a-z]\w+/gm))
  const { panels, templating } = JSON.parse(await readFile(DASHBOARD, 'utf8'))
  const expressions = (panels as Panel[]).flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const drawn = new Set(expressions.flatMap(metricsIn))
  expect(drawn.size).toBeGreaterThan(20)
  expect([...drawn].filter((name) => !exported.has(name))).toEqual([])
  const alerted = new Set(metricsIn(await readFile(RULES, 'utf8')))
  expect([...alerted].filter((name) => !drawn.has(name))).toEqual([])

  const rules = expressions.map((expr, n) => ({ record: `panel:${n}`, expr }))
  const path = join(folder, 'panels.yml')
  await writeFile(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  const { stdout } = await run(promtool, ['check', 'rules', path])
  expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`)
  expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }])
  for (const { datasource } of panels) expect(datasource.uid).toMatch(/^\$\{datasource\}$/)
})
