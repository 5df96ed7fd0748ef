import { enableCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * The user's own cache folder. In node_modules a start by root would leave files that another
 * user's `npm ci` cannot remove, and where all may write somebody else could leave code.
 */
export function compileCacheFolder(env = process.env): string | undefined {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'vslukh/compile')
  try {
    // Not $HOME, which sudo may leave to be that of the user who called it.
    return join(userInfo().homedir, '.cache/vslukh/compile')
  } catch {
    return undefined
  }
}

/**
 * Makes the next starts quicker: Node need not strip types and compile again. A folder that cannot
 * be written is no error.
 */
export function useCompileCache(): void {
  const folder = compileCacheFolder()
  if (folder) enableCompileCache(folder)
}
