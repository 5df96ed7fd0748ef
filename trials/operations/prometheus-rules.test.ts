import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { EMAIL, startWall } from './wall-commands.ts'

const execute = promisify(execFile)
const RULES = join(import.meta.dirname, '../../deploy/prometheus-rules.yml')
const DASHBOARD = join(import.meta.dirname, '../../deploy/grafana-dashboard.json')
const ALERTS = join(import.meta.dirname, '../../docs/alerts.md')

let promtool: string
beforeAll(async () => {
  promtool = await findProgram(['/usr/bin/promtool'], {
    debianPackage: 'prometheus',
    advice: 'The alerts are checked by promtool: install it (Debian: prometheus)',
  })
}, 300_000)

type Case = { fires: string[]; silent: string[]; minutes: number; also?: Unit[] }

/**
 * For each alert: series that fire it, series that do not, and after how many minutes it is
 * checked.
 */
const CASES: Record<string, Case> = {
  VslukhDown: {
    fires: ['up{job="vslukh"} 0x60'],
    silent: ['up{job="vslukh"} 1x60', 'up{job="another"} 0x60'],
    minutes: 5,
  },
  VslukhDatabaseDown: {
    fires: ['vslukh_database_up 0x60'],
    silent: ['vslukh_database_up 1x60'],
    minutes: 5,
  },
  VslukhErrors: {
    fires: [
      'vslukh_http_request_duration_seconds_count{status="200"} 0+90x60',
      'vslukh_http_request_duration_seconds_count{status="503"} 0+10x60',
    ],
    silent: [
      'vslukh_http_request_duration_seconds_count{status="200"} 0+50x60',
      'vslukh_http_request_duration_seconds_count{status="404"} 0+50x60',
      'vslukh_http_request_duration_seconds_count{status="500"} 0+1x60',
    ],
    minutes: 20,
  },
  VslukhSlow: {
    fires: [
      'vslukh_http_request_duration_seconds_bucket{le="1"} 0+90x60',
      'vslukh_http_request_duration_seconds_bucket{le="3"} 0+100x60',
      'vslukh_http_request_duration_seconds_bucket{le="+Inf"} 0+100x60',
    ],
    silent: [
      'vslukh_http_request_duration_seconds_bucket{le="1"} 0+100x60',
      'vslukh_http_request_duration_seconds_bucket{le="3"} 0+100x60',
      'vslukh_http_request_duration_seconds_bucket{le="+Inf"} 0+100x60',
    ],
    minutes: 30,
  },
  VslukhEventLoopBlocked: {
    fires: ['nodejs_eventloop_lag_p99_seconds{job="vslukh"} 0.3x60'],
    silent: ['nodejs_eventloop_lag_p99_seconds{job="vslukh"} 0.02x60'],
    minutes: 20,
  },
  VslukhMailsWait: {
    fires: ['vslukh_mail_oldest_seconds 301x60'],
    silent: ['vslukh_mail_oldest_seconds 20x60'],
    minutes: 5,
  },
  VslukhMailsRefused: {
    fires: ['vslukh_new_address_mails_slowed 1x60'],
    silent: ['vslukh_new_address_mails_slowed 0x60', 'vslukh_codes_refused 3x60'],
    minutes: 5,
  },
  VslukhDiskFull: {
    fires: ['vslukh_disk_free_bytes 15e9-12e6x400', 'vslukh_disk_bytes 100e9x400'],
    silent: ['vslukh_disk_free_bytes 15e9-1e6x400', 'vslukh_disk_bytes 100e9x400'],
    minutes: 380,
    also: [
      { series: ['vslukh_disk_free_bytes 0.9e9x60'], fires: true, minutes: 15 },
      // Some GB of temporary files beside 64 that are free, on a Prometheus that has just been
      // started and on an old one.
      {
        series: ['vslukh_disk_free_bytes 64e9-300e6x15 60e9x60', 'vslukh_disk_bytes 80e9x80'],
        fires: false,
        minutes: 30,
      },
      {
        series: ['vslukh_disk_free_bytes 64e9-80e6x400', 'vslukh_disk_bytes 80e9x400'],
        fires: false,
        minutes: 380,
      },
      {
        series: ['vslukh_disk_free_bytes 15e9-100e6x60', 'vslukh_disk_bytes 100e9x60'],
        fires: false,
        minutes: 50,
      },
    ],
  },
  VslukhBackupOld: {
    fires: ['vslukh_backup_age_seconds 200000x100'],
    silent: ['vslukh_backup_age_seconds 90000x100'],
    minutes: 90,
    // No backup was ever made, for three days and for one.
    also: [
      { series: ['vslukh_backup_failed 0x4320'], fires: true, minutes: 4320 },
      { series: ['vslukh_backup_failed 0x1440'], fires: false, minutes: 1440 },
      {
        series: ['vslukh_backup_failed 0x4320', 'vslukh_backup_age_seconds 90000x4320'],
        fires: false,
        minutes: 4320,
      },
    ],
  },
  VslukhBackupFailed: {
    fires: ['vslukh_backup_failed 1x60'],
    silent: ['vslukh_backup_failed 0x60', 'vslukh_backup_verification_failed 0x60'],
    minutes: 10,
    also: [{ series: ['vslukh_backup_verification_failed 1x60'], fires: true, minutes: 10 }],
  },
  VslukhClockWrong: {
    fires: ['vslukh_clock_skew_seconds -31x60'],
    silent: ['vslukh_clock_skew_seconds 3x60'],
    minutes: 10,
  },
  VslukhCountersDiffer: {
    fires: ['vslukh_counter_differences 1x60'],
    silent: ['vslukh_counter_differences 0x60'],
    minutes: 5,
  },
}

/** Writes a unit test of promtool: an alert fires for these series, or does not. */
function unitTest(alert: string, { series, fires, minutes }: Unit) {
  const inputs = series.map((line) => {
    const at = line.lastIndexOf(' ')
    return { series: line.slice(0, at), values: line.slice(at + 1) }
  })
  return { name: `${alert} ${fires}`, interval: '1m', input_series: inputs, minutes, alert, fires }
}

type Unit = { series: string[]; fires: boolean; minutes: number }

test('promtool accepts the rules, which are twelve, each with a line in docs/alerts.md', async () => {
  const { stdout } = await execute(promtool, ['check', 'rules', RULES])
  expect(stdout).toContain('SUCCESS: 12 rules found')
  const named = (await readFile(RULES, 'utf8')).match(/(?<=alert: )\w+/g)
  expect(named).toEqual(Object.keys(CASES))
  const described = (await readFile(ALERTS, 'utf8')).match(/(?<=^\| `)\w+/gm)
  expect(described).toEqual(named)
})

test('each alert fires for its fault and for nothing less', async () => {
  const folder = await folderForTest()
  const units = Object.entries(CASES).flatMap(([alert, { fires, silent, minutes, also = [] }]) => [
    unitTest(alert, { series: fires, fires: true, minutes }),
    unitTest(alert, { series: silent, fires: false, minutes }),
    ...also.map((unit) => unitTest(alert, unit)),
  ])
  // The series ALERTS shows whether an alert fires, without a copy of its labels and words.
  const tests = units.map(({ alert, fires, minutes, ...unit }) => ({
    ...unit,
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${minutes}m`,
        exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  }))
  const path = join(folder, 'units.yml')
  // JSON is YAML.
  await writeFile(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const { stdout } = await execute(promtool, ['test', 'rules', path])
  expect(stdout).toContain('SUCCESS')
})

type Panel = {
  id: number
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>
  datasource: { uid: string }
  targets: { expr: string }[]
}

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
  const { stdout } = await execute(promtool, ['check', 'rules', path])
  expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`)

  expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }])
  const cells = (panels as Panel[]).flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(new Set((panels as Panel[]).map(({ id }) => id)).size).toBe(panels.length)
  for (const { datasource } of panels) expect(datasource.uid).toMatch(/^\$\{datasource\}$/)
})
