import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../kernel/config/replace-file.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'

/** Creates DATA_DIR, through which other users may pass for PostgreSQL. Throws StartError. */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o711 })
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new StartError(`DATA_DIR: ${dataDir}: ${whyFailed(cause)}`, { cause })
  }
}

const READ_ME = `Здесь лежит база данных стены и её секрет.

Не копируйте эту папку, пока сервер работает: такая копия почти всегда испорчена, и это видно не сразу.
Копию делает команда «vslukh backup ПАПКА», проверяет «vslukh verify ФАЙЛ», возвращает «vslukh restore ФАЙЛ».
Сервер может при этом работать. Копии каждую ночь: переменная BACKUP_DIR.
`

export async function writeReadMe(dataDir: string): Promise<void> {
  await replaceFile(join(dataDir, 'READ-ME.txt'), READ_ME, { mode: 0o644 })
}
