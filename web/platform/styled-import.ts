const sheets = new Map<string, Promise<void>>()

/**
 * Imports a chunk after its style sheets, each of which is requested once, and again when it has
 * failed. The build puts this in place of Vite's loader, which never requests a sheet again.
 */
export async function importStyled<Module>(
  importChunk: () => Promise<Module>,
  paths: readonly string[] = [],
): Promise<Module> {
  await Promise.all(paths.map((path) => sheets.get(path) ?? loadSheet(path)))
  return importChunk()
}

function loadSheet(path: string): Promise<void> {
  const link = document.createElement('link')
  const loading = new Promise<void>((resolve, reject) => {
    link.onload = () => resolve()
    link.onerror = () => {
      sheets.delete(path)
      link.remove()
      reject(new Error(`Unable to load ${path}`))
    }
  })
  document.head.append(
    Object.assign(link, { rel: 'stylesheet', crossOrigin: '', href: `/${path}` }),
  )
  sheets.set(path, loading)
  return loading
}
