import Type from 'typebox'
import { endpoint, strictObject } from './endpoint.ts'

export const prepareDownload = endpoint('POST', '/users/current/downloads', {
  access: 'user',
  summary:
    'Everything that is stored about the viewer: the path of a zip archive that can be fetched within a minute; once a day, or again if the download broke off',
  status: 201,
  answer: strictObject({ path: Type.String({ description: 'On this site, for one `GET`' }) }),
})
