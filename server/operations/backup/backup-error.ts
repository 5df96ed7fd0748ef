import { errorCode } from '../../kernel/db/database-errors.ts'

/** The message is a Russian sentence for the operator. */
export class BackupError extends Error {}

const REASONS: Record<string, string> = {
  EEXIST: 'такой файл уже есть',
  ENOENT: 'такой папки нет',
  ENOTDIR: 'такой папки нет',
  EACCES: 'нет права писать сюда',
  EPERM: 'нет права писать сюда',
  EROFS: 'диск только для чтения',
  ENOSPC: 'на диске не осталось места',
  EDQUOT: 'на диске не осталось места',
}

/** Explains why a backup was not made, or returns a cause that is not known. */
export function explainWriting(cause: unknown, path: string): unknown {
  const reason = REASONS[errorCode(cause)]
  return reason ? new BackupError(`Копия ${path} не сделана: ${reason}.`, { cause }) : cause
}
