import { testEveryOtherFlow } from './every-flow.ts'

testEveryOtherFlow(0)
