import { constants } from 'node:os'
import { expect, test } from 'vitest'
import { programReason, whyFailed } from './why-failed.ts'

/** An error as Node makes it of a failed call on a file. */
function fileError(name: string, syscall: string, { isKnown = true } = {}) {
  const errno = -((constants.errno as Record<string, number>)[name] ?? 0)
  // libuv names neither EDQUOT nor ESTALE.
  const code = isKnown ? name : `Unknown system error ${errno}`
  return Object.assign(new Error(`${code}: ${code}, ${syscall}`), { code, errno, syscall })
}

const COPY = 'Посмотрите dmesg, проверьте диск и перенесите копии стены на другой'

test.each([
  [fileError('EIO', 'fsync'), `диск отвечает ошибкой (EIO, fsync). ${COPY}`],
  [
    fileError('ESTALE', 'rename', { isKnown: false }),
    'сетевой или съёмный диск не отвечает (ESTALE, rename). Подключите его заново',
  ],
  [fileError('EDQUOT', 'write', { isKnown: false }), 'на диске не осталось места. Освободите его'],
  [
    fileError('ETIMEDOUT', 'read'),
    'сетевой или съёмный диск не отвечает (ETIMEDOUT, read). Подключите его заново',
  ],
  [fileError('EOVERFLOW', 'stat'), 'файл или диск отвечает ошибкой (EOVERFLOW, stat)'],
  [
    Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT', syscall: 'read' }),
    'время ожидания вышло (read ETIMEDOUT)',
  ],
])(
  'every error of a file is put in words, and none of a connection is taken for one: %s',
  (error, words) => {
    expect(whyFailed(error)).toBe(words)
  },
)

const MEMORY = 'Чаще всего причина — нехватка памяти: освободите её и повторите'

test.each([
  [
    'performing post-bootstrap initialization ... initdb: error: could not fsync file "x": Input/output error\ninitdb: removing contents of data directory "/x"\n',
    `Диск отвечает ошибкой (could not fsync file "x": Input/output error). ${COPY}`,
  ],
  [
    '2026-11-29 20:00:00.000 UTC [7] FATAL:  could not write lock file "postmaster.pid": No space left on device\n',
    'На диске не осталось места (could not write lock file "postmaster.pid": No space left on device). Освободите его',
  ],
  [
    'x: LOG:  unrecognized configuration parameter "fsink"\nx: FATAL:  configuration file "/x" contains errors\n',
    'PostgreSQL пишет: «unrecognized configuration parameter "fsink"»',
  ],
  ['x: FATAL:  no such role\n', 'PostgreSQL пишет: «no such role»'],
  [
    'x: FATAL:  no such role\nx: LOG:  startup process (PID 7) was terminated by signal 6: Aborted\nx: LOG:  database system is shut down\n',
    'PostgreSQL пишет: «no such role»',
  ],
  [
    'Killed\nchild process exited with exit code 137\ninitdb: removing contents of data directory "/x"\n',
    `Программу PostgreSQL прервал сигнал (child process exited with exit code 137). ${MEMORY}`,
  ],
  [
    'x: LOG:  startup process (PID 7) was terminated by signal 9: Killed\nx: FATAL:  the database system is starting up\n',
    `Программу PostgreSQL прервал сигнал (startup process (PID 7) was terminated by signal 9: Killed). ${MEMORY}`,
  ],
  [
    'initdb: error: invalid locale\ninitdb: removing data directory "/x"\n',
    'PostgreSQL пишет: «invalid locale»',
  ],
  ['', 'Причина неизвестна'],
])('the words of a failed PostgreSQL are explained', (output, words) => {
  expect(programReason(output)).toBe(words)
})

test('a program of PostgreSQL that a signal has ended without a word is explained', () => {
  expect(programReason('', 'SIGKILL')).toBe(
    `Программу PostgreSQL прервал сигнал (terminated by signal SIGKILL). ${MEMORY}`,
  )
})
