import { enableCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Returns the user's own cache folder, because others could plant code in a shared folder. */
export function compileCacheFolder(env = process.env): string | undefined {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'vslukh/compile')
  try {
    // Not $HOME, which sudo may keep from the user who called it.
    return join(userInfo().homedir, '.cache/vslukh/compile')
  } catch {
    return undefined
  }
}

/** Makes later starts faster. A folder that cannot be written is no error. */
export function useCompileCache(): void {
  const folder = compileCacheFolder()
  if (folder) enableCompileCache(folder)
}
