/** The errors that the browser also shows itself if a response does not come from the API. */
export const GENERAL_ERRORS = {
  UNAUTHORIZED: { status: 401, message: 'Войдите, чтобы продолжить' },
  NOT_FOUND: { status: 404, message: 'Такого адреса нет' },
  OTHER_ACCOUNT: { status: 409, message: 'Это начато в другом аккаунте' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'Слишком большой запрос' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Слишком часто. Подождите немного и повторите' },
  INTERNAL_ERROR: { status: 500, message: 'Что-то сломалось. Попробуйте ещё раз' },
  UNAVAILABLE: { status: 503, message: 'Сервис временно недоступен. Попробуйте через минуту' },
} as const satisfies Record<string, { status: number; message: string }>
