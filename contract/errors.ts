import { GENERAL_ERRORS } from './general-errors.ts'

/** The browser imports only GENERAL_ERRORS, because an answer contains its error's message. */
export const ERRORS = {
  ...GENERAL_ERRORS,
  SESSION_CLOSED: { status: 401, message: 'Сессия завершена с другого устройства' },
  INVALID_REQUEST: { status: 400, message: 'Проверьте введённые данные' },
  INVALID_CONFIRM_CODE: { status: 400, message: 'Неверный код' },
  MAX_CONFIRM_ATTEMPTS: { status: 400, message: 'Слишком много неверных кодов' },
  OPERATION_EXPIRED: { status: 400, message: 'Код больше не действует. Запросите новый' },
  EMAIL_ALREADY_EXISTS: { status: 400, message: 'Эта почта уже используется' },
  INVALID_USERNAME: {
    status: 400,
    message: 'Имя пользователя — от 5 до 32 латинских букв, цифр и знаков подчёркивания',
  },
  USERNAME_ALREADY_EXISTS: { status: 400, message: 'Имя пользователя уже занято' },
  LINK_EXPIRED: {
    status: 400,
    message:
      'Ссылка больше не действует. Попробуйте войти с прежней почтой, а если не получится, напишите нам: адрес на странице «Контакты»',
  },
  INVALID_PASSKEY: {
    status: 400,
    message: 'Этот ключ доступа здесь не действует. Войдите с кодом из письма',
  },
  TOO_MANY_PASSKEYS: {
    status: 400,
    message: 'Ключей может быть не больше 10. Удалите тот, которым не пользуетесь',
  },
  CURRENT_SESSION: { status: 400, message: 'Это текущая сессия: чтобы завершить её, выйдите' },
  QUERY_TOO_BROAD: { status: 400, message: 'Слишком общий запрос: добавьте слово' },
  ALREADY_APPEALED: { status: 400, message: 'Решение можно обжаловать один раз' },
  TOO_MANY_MUTES: {
    status: 400,
    message: 'Скрыть можно не больше 1000 авторов. Верните кого-нибудь в настройках',
  },
  FORBIDDEN: { status: 403, message: 'Запрос пришёл с чужого сайта. Откройте страницу заново' },
  REGISTRATION_CLOSED: { status: 403, message: 'Регистрация закрыта' },
  WRITING_CLOSED: { status: 403, message: 'Писать пока нельзя' },
  ACCOUNT_DELETED: {
    status: 403,
    message: 'Аккаунт удалён. Пока он не стёрт, его можно вернуть',
  },
  BLOCKED: { status: 403, message: 'Вы можете только читать' },
  OWN_POST: { status: 403, message: 'Вашу запись рассматривает другой модератор' },
  EDIT_PERIOD_EXPIRED: { status: 403, message: 'Время изменения записи истекло' },
  USER_NOT_FOUND: { status: 404, message: 'Пользователь с такой почтой не найден' },
  POST_NOT_FOUND: { status: 404, message: 'Запись не существует или была удалена' },
  SESSION_NOT_FOUND: { status: 404, message: 'Сессия не найдена или уже завершена' },
  PASSKEY_NOT_FOUND: { status: 404, message: 'Такого ключа нет: возможно, он уже удалён' },
  REASON_NOT_FOUND: { status: 404, message: 'Такой причины жалобы нет' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Этот адрес таких запросов не принимает' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Запрос должен быть в формате JSON' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof ERRORS
export type ErrorBody = { code: ErrorCode; message: string }
