import { testEveryOtherPair } from './every-pair.ts'

testEveryOtherPair(0)
