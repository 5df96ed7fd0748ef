import { enableCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/**
 * The folder for what Node has compiled: in the user's own cache folder ($XDG_CACHE_HOME, else ~/.cache). In
 * node_modules a start by root would leave files that another user's `npm ci` cannot remove, and in a folder that all may
 * write somebody else could leave code. Undefined for a user without a home.
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
 * From the second start on, Node need neither strip types nor compile what this process loads from now on: a quicker start, and
 * less memory. Where the folder cannot be written it does without.
 */
export function useCompileCache(): void {
  const folder = compileCacheFolder()
  if (folder) enableCompileCache(folder)
}
