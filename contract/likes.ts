import { endpoint, strictObject } from './endpoint.ts'
import { Count, IdParams } from './fields.ts'

const LikesCount = strictObject({ likes_count: Count })

export const likePost = endpoint('POST', '/posts/:id/likes', {
  access: 'user',
  publishes: true,
  summary: 'Like a post; liking twice changes nothing',
  params: IdParams,
  answer: LikesCount,
  errors: ['POST_NOT_FOUND'],
})

export const unlikePost = endpoint('DELETE', '/posts/:id/likes', {
  access: 'user',
  summary: 'Take a like back; doing so twice changes nothing',
  params: IdParams,
  answer: LikesCount,
  errors: ['POST_NOT_FOUND'],
})
