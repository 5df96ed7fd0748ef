import { readText as readTextEndpoint } from '../../../contract/texts.ts'
import type { Node } from '../../kernel/feature.ts'
import type { ReadText } from './texts.service.ts'

export function registerTexts({ route }: Node, readText: ReadText): void {
  route(readTextEndpoint, ({ params }) => readText(params.name))
}
