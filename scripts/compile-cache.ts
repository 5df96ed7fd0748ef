import { enableCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * Returns the user's own cache folder. In node_modules, root would leave files that another user's
 * `npm ci` cannot remove; in a folder that all users may write, one could plant code.
 */
export function compileCacheFolder(env = process.env): string | undefined {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'vslukh/compile')
  try {
    // Not $HOME, which sudo may keep from the user who called it.
    return join(userInfo().homedir, '.cache/vslukh/compile')
  } catch {
    return undefined
  }
}

/**
 * Makes later starts faster: Node need not strip types and compile again. A folder that cannot be
 * written is no error.
 */
export function useCompileCache(): void {
  const folder = compileCacheFolder()
  if (folder) enableCompileCache(folder)
}
