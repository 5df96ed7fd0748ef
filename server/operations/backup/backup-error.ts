import { errorCode } from '../../kernel/db/database-errors.ts'

/** Thrown where a backup cannot be made, read or restored; the message is a Russian sentence for the operator. */
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

/** Returns the error for the operator: why a backup to `path` was not made, where the cause is known; otherwise the cause. */
export function explainWriting(cause: unknown, path: string): unknown {
  const reason = REASONS[errorCode(cause)]
  return reason ? new BackupError(`Копия ${path} не сделана: ${reason}.`, { cause }) : cause
}
