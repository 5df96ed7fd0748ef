import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { findTextFaults } from '../../features/texts/texts.service.ts'
import type { Config } from '../../kernel/config/config.ts'
import { readDkim } from '../../kernel/mail/dkim.ts'
import { broken, type CheckResult, ok, warning } from './finding.ts'

/** Warns of settings that are probably mistakes. Wrong settings stop every command earlier. */
export async function checkSettings(config: Config): Promise<CheckResult> {
  const unsigned = await readDkim(config).then(
    () => undefined,
    (error: Error) => error.message,
  )
  if (unsigned !== undefined) {
    return broken(unsigned, 'Исправьте её: сервер с ней не запустится, а файл читает он сам')
  }
  const warnings = [...config.warnings, ...findOpenDoors(config)]
  if (warnings.length === 0) return ok('настройки в порядке')
  const message = warnings.map((one) => one.message).join('; ')
  return warning(message, warnings.map((one) => one.fix).join('. '))
}

type Doors = Pick<Config, 'rateLimitScale' | 'metricsPort' | 'metricsHost'>

function findOpenDoors({ rateLimitScale, metricsPort, metricsHost }: Doors) {
  const doors: Config['warnings'] = []
  if (rateLimitScale !== 1) {
    const message = `RATE_LIMIT_SCALE=${rateLimitScale}: лимиты не те, с которыми стену проверяли`
    doors.push({ message, fix: 'Уберите RATE_LIMIT_SCALE, если он остался от проверки' })
  }
  if (metricsPort !== undefined && /^(?:0\.0\.0\.0|\[?::\]?)$/.test(metricsHost)) {
    const message = `METRICS_HOST=${metricsHost}: метрики открыты всем, кто достанет до порта ${metricsPort}`
    doors.push({
      message,
      fix: 'Назовите в METRICS_HOST адрес, до которого достанет только Prometheus',
    })
  }
  return doors
}

/** The unit files. systemd prefers the first, but a package replaces only the second. */
const UNITS = ['/etc', '/lib'].map((folder) => `${folder}/systemd/system/vslukh.service`)

export async function checkUnit([own = '', packaged = ''] = UNITS): Promise<
  CheckResult | undefined
> {
  const areBoth = await Promise.all([access(own), access(packaged)]).catch(() => undefined)
  if (!areBoth) return undefined
  const fix = `Перенесите своё в ${own}.d/own.conf, удалите ${own} и выполните systemctl daemon-reload`
  return warning(`${own} действует вместо ${packaged} из пакета`, fix)
}

export async function checkPages({ dataDir }: Pick<Config, 'dataDir'>): Promise<CheckResult> {
  const folder = join(dataDir, 'pages')
  const faults = await findTextFaults(folder)
  if (faults.length === 0) return ok('страницы сайта читаются')
  return broken(`страницы в ${folder}: ${faults.join('; ')}`, 'Исправьте файл или права на него')
}
