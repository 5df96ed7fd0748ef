import { write } from '../http/write.ts'

/** Returns the address of an archive of the viewer's data. */
export const requestDownload = () => write('POST /users/current/downloads', {})
