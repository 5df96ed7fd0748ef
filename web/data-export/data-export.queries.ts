import { write } from '../http/write.ts'

/** Makes the archive of everything about the viewer, and returns its address. */
export const requestDownload = () => write('POST /users/current/downloads', {})
