import { copyFile, readFile, realpath, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfExists } from '../../server/kernel/config/read-if-exists.ts'
import { removePath, replaceFile } from '../../server/kernel/config/replace-file.ts'
import { broken, type CheckResult, ok } from '../../server/operations/doctor/finding.ts'
import { hasProgram, hasSystemd, holderName, portHolder, run } from './machine.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const EXAMPLE = 'vslukh.example'

export const PROXIES = {
  caddy: {
    title: 'Caddy',
    source: 'Caddyfile',
    formerSource: 'Caddyfile.former',
    file: '/etc/caddy/Caddyfile',
    check: ['caddy', 'validate', '--config', '/etc/caddy/Caddyfile'],
    hint: () => 'Исправьте /etc/caddy/Caddyfile',
    // A reload would look for the running Caddy at the admin address of the new file.
    load: 'restart',
  },
  nginx: {
    title: 'nginx',
    source: 'nginx.conf',
    formerSource: 'nginx-former.conf',
    file: '/etc/nginx/conf.d/vslukh.conf',
    check: ['nginx', '-t'],
    hint: (host: string) =>
      'Если сертификата ещё нет, получите его: apt install certbot python3-certbot-nginx, ' +
      `certbot certonly --nginx -d ${host}`,
    load: 'reload',
  },
}

export type ProxyName = keyof typeof PROXIES
type Site = {
  host: string
  /** The host of the settings before this setup. */
  formerHost: string | undefined
  /** The hosts from which every path leads to this one. */
  formerHosts: string[]
  port: number
}

/** Puts the site into the proxy's file, and loads it once the proxy itself accepts that file. */
export async function setUpProxy(name: ProxyName, site: Site): Promise<CheckResult> {
  const { title, file, check, hint, load } = PROXIES[name]
  const failed = (message: string, fix: string) => broken(`${title}: ${message}`, fix)
  if (!(await hasProgram(name))) {
    return failed('не установлен', `Установите его, apt install ${name}, и повторите vslukh setup`)
  }
  const before = await readIfExists(file)
  const withOwn = withSite(await source(name, site), before && withoutFormerNames(before), site)
  const text = withOwn + (await formerNames(name, withOwn, site))
  if (text !== before) {
    if (before !== undefined) await copyFile(file, `${file}.before`)
    // The file may be a link to where an operator keeps it.
    const written = before === undefined ? file : await realpath(file)
    await replaceFile(written, text, { mode: 0o644 })
    const [program = '', ...args] = check
    const { isDone, err } = await run(program, args)
    if (!isDone) {
      if (before === undefined) await removePath(file)
      else await rename(`${file}.before`, file)
      const reason = err.split('\n').find((line) => /emerg|Error/.test(line)) ?? err.trim()
      return failed(
        `не принимает настройки: ${reason}`,
        `${hint(site.host)}, и повторите vslukh setup`,
      )
    }
  }
  const mustLoad = await isNewerThanService(file, name)
  for (const port of mustLoad ? [80, 443] : []) {
    const holder = await portHolder(port)
    if (holder && holder.program !== name)
      return failed(holderName(port, holder), 'Остановите её и повторите vslukh setup')
  }
  if (!hasSystemd()) {
    return failed(`${file} готов, но systemd здесь нет`, `Запустите ${title} сами`)
  }
  const acts = [['enable', '--now'], ...(mustLoad ? [[load]] : [])]
  for (const act of acts) {
    const { isDone, err } = await run('systemctl', [...act, name], { longestMs: LOADING_MS })
    if (isDone) continue
    const fix = `Посмотрите, почему: journalctl -u ${name} -n 20, и повторите vslukh setup`
    return failed(`не запускается: ${err.trim()}`, fix)
  }
  const { host, formerHosts } = site
  const led = formerHosts.length > 0 ? `; сюда же ведёт всё с ${formerHosts.join(', ')}` : ''
  return ok(`${title}: ${file}, сайт ${host}${led}`)
}

const LOADING_MS = 15_000

/** Returns whether the file has changed since the service was last started, or it never was. */
async function isNewerThanService(file: string, name: string): Promise<boolean> {
  const options = ['show', '-P', 'ActiveEnterTimestamp', '--timestamp=unix', name]
  const { out } = await run('systemctl', options)
  return (await stat(file)).mtimeMs / 1000 >= Number(out.trim().replace('@', ''))
}

async function source(
  name: ProxyName,
  { host, port }: Site,
  file: string = PROXIES[name].source,
): Promise<string> {
  const text = await readFile(join(DEPLOY, file), 'utf8')
  // Leaves out the lines above the first empty line, which are instructions for an operator.
  const body = text.slice(text.indexOf('\n\n')).trim()
  return body.replaceAll(EXAMPLE, host).replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
}

const FORMER_START = '# vslukh setup: a former name'
const FORMER_END = '# vslukh setup: its end'
const FORMER_NAMES = new RegExp(`\\n*^${FORMER_START}$.*?^${FORMER_END}$`, 'gms')

/** Returns the file without what setup added for former names, so that each is there once. */
const withoutFormerNames = (file: string) => file.replace(FORMER_NAMES, '')

/** Returns what leads former names to the site. Leaves out names that an operator has written. */
async function formerNames(name: ProxyName, file: string, site: Site): Promise<string> {
  const text = await source(name, site, PROXIES[name].formerSource)
  return site.formerHosts
    .filter((former) => !wholeName(former).test(file))
    .map((former) => text.replaceAll('former.example', former))
    .map((block) => `\n${FORMER_START}\n${block}\n${FORMER_END}\n`)
    .join('')
}

/** Matches Debian's Caddyfile without its comments. */
const DEBIAN_CADDYFILE = /^:80 \{\s*root \* \/usr\/share\/caddy\s*file_server\s*\}$/

/**
 * Returns the file with the site. Keeps other sites, and an operator's changes to this site and to
 * Caddy's block of global options, which has to come first.
 */
function withSite(site: string, before: string | undefined, { host, formerHost }: Site): string {
  const bare = (before ?? '').replace(/^\s*#.*\n/gm, '').trim()
  if (before === undefined || bare === '' || DEBIAN_CADDYFILE.test(bare)) return `${site}\n`
  if (wholeName(host).test(before)) return before
  const renamed = formerHost ? before.replace(wholeName(formerHost), host) : before
  if (renamed !== before) return renamed
  const [, options = '', own] = /^(\{\n[\s\S]*?\n\}\n+)?([\s\S]*)$/.exec(site) ?? []
  const others = bare.startsWith('{') ? before : options + before
  return `${others.trimEnd()}\n\n${own}\n`
}

const wholeName = (host: string) => new RegExp(`(?<![\\w.-])${RegExp.escape(host)}(?![\\w.-])`, 'g')
