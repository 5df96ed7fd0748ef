import { readText as readTextEndpoint } from '../../../contract/texts.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { ReadText } from './texts.service.ts'

export function registerTexts({ route, readText }: { route: Route; readText: ReadText }): void {
  route(readTextEndpoint, ({ params }) => readText(params.name))
}
