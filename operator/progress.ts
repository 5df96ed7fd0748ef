import {
  LINE_MS,
  type Progress,
  percentOf,
  type Step,
} from '../server/operations/backup/progress.ts'
import { printable } from './format.ts'

const REDRAW_MS = 250
/** Set for a command whose lines another one shows on a terminal. */
const INTERVAL = 'VSLUKH_PROGRESS_MS'
const ERASE = '\r\x1b[K'
/** A rest is estimated only from here on: before, it would jump. */
const ESTIMATED = { ms: 3000, percent: 1 }

const WORDS: Record<Step, string> = {
  copy: 'Копируем',
  sum: 'Проверяем файл',
  load: 'Загружаем',
  count: 'Сверяем счётчики',
  pages: 'Пишем страницы',
}

type Say = (line: string) => void

let isShown = false

/** Shows a line in place of the last one on a terminal; elsewhere, prints it with `say`. */
function showInPlace(line: string, say: Say): void {
  if (!process.stderr.isTTY) {
    say(line)
    return
  }
  if (!isShown) process.once('exit', clearProgress)
  isShown = true
  process.stderr.write(ERASE + line)
}

/** Erases the line that is shown in place, before another one is printed. */
export function clearProgress(): void {
  if (isShown) process.stderr.write(ERASE)
  isShown = false
}

/**
 * Returns a Progress that shows one line on a terminal, and elsewhere prints one a minute with `say`.
 * `more` returns the end of the line.
 */
export function showProgress(say: Say, more = () => ''): Progress {
  const { isTTY = false } = process.stderr
  const everyMs = isTTY ? REDRAW_MS : Number(process.env[INTERVAL]) || LINE_MS
  let current: Step | undefined
  let last = 0
  let beganAt = performance.now()
  let shownAt = isTTY ? Number.NEGATIVE_INFINITY : beganAt
  return (step, done, total) => {
    const now = performance.now()
    // A step may begin again.
    if (step !== current || done < last) beganAt = now
    current = step
    last = done
    if (now - shownAt < everyMs) return
    shownAt = now
    showInPlace(progressLine(step, { done, total, ms: now - beganAt }) + more(), say)
  }
}

type Done = { done: number; total: number; ms: number }

/** Returns what is done after `ms` milliseconds, and how long the rest takes at that pace. */
export function progressLine(step: Step, { done, total, ms }: Done): string {
  if (total === 0) return `${WORDS[step]}: ${done}`
  const percent = percentOf(done, total)
  const isKnown = ms >= ESTIMATED.ms && percent >= ESTIMATED.percent
  const rest = isKnown ? `, осталось ${inWords((ms * (100 - percent)) / percent)}` : ''
  return `${WORDS[step]}: ${percent} %${rest}`
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'меньше минуты'
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return `около ${hours > 0 ? `${hours} ч ` : ''}${rest} мин`
}

/** The variables for a command whose progress this one shows. */
export const progressEnv = (): Record<string, string> =>
  process.stderr.isTTY ? { [INTERVAL]: '1000' } : {}

/**
 * Shows a line of another command if it is progress. That command may run as another user, so
 * control characters are removed.
 */
export function relayProgress(line: string, say: Say): void {
  if (isProgress(line)) showInPlace(printable(line), say)
}

/** Returns whether another command has printed the line as its progress. */
export const isProgress = (line: string): boolean =>
  Object.values(WORDS).some((words) => line.startsWith(`${words}: `))
