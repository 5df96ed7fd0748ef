import { access, constants, mkdir, open, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../../kernel/errors/app-error.ts'

/** Creates DATA_DIR, through which other users may pass for PostgreSQL. Throws StartError. */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o711 })
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new StartError(explain(dataDir, cause as NodeJS.ErrnoException), { cause })
  }
}

/** Returns the name of this process's user, or the id: the users of some containers have no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** Writes a folder to the disk, so that a rename in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const READ_ME = `Здесь лежит база данных стены и её секрет.

Не копируйте эту папку, пока сервер работает: такая копия почти всегда испорчена, и это видно не сразу.
Копию делает команда «vslukh backup ПАПКА», проверяет «vslukh verify ФАЙЛ», возвращает «vslukh restore ФАЙЛ».
Сервер может при этом работать. Копии каждую ночь: переменная BACKUP_DIR.
`

export async function leaveNote(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, 'READ-ME.txt'), READ_ME)
}

function explain(dataDir: string, { code, message }: NodeJS.ErrnoException): string {
  const place = `DATA_DIR: ${dataDir}`
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${place} — файл или лежит внутри файла, а нужна папка. Укажите другую`
    case 'EROFS':
      return `${place} на диске только для чтения. Подключите его для записи или укажите другую папку`
    case 'EACCES':
    case 'EPERM':
      return (
        `${place}: у пользователя, от которого запущен сервер, нет права писать сюда. ` +
        'Запустите сервер от владельца папки или отдайте её ему: chown -R'
      )
    case 'ENOSPC':
      return `${place}: на диске не осталось места. Освободите его`
    default:
      return `${place}: папку не получилось открыть: ${message}`
  }
}
