import { write } from '../session/write.ts'

/** Requests an archive of the viewer's data, and returns its address. Throws CallError. */
export const requestDownload = () => write('POST /users/current/downloads', {})
