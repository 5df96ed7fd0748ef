const sheets = new Map<string, Promise<unknown>>()

/** Imports a chunk after its style sheets. Used by the build, as Vite's loader never retries. */
export async function importStyled<Module>(
  importChunk: () => Promise<Module>,
  paths: readonly string[] = [],
): Promise<Module> {
  await Promise.all(paths.map((path) => sheets.get(path) ?? loadSheet(path)))
  return importChunk()
}

function loadSheet(path: string): Promise<unknown> | undefined {
  if (document.querySelector(`link[href="/${path}"]`)) return undefined
  const link = document.createElement('link')
  const loading = new Promise((resolve, reject) => {
    link.onload = resolve
    link.onerror = () => {
      sheets.delete(path)
      link.remove()
      reject(new Error(`Unable to load ${path}`))
    }
  })
  Object.assign(link, { rel: 'stylesheet', crossOrigin: '', href: `/${path}` })
  document.head.append(link)
  sheets.set(path, loading)
  return loading
}
