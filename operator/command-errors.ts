/** Thrown where a command cannot do what it was asked to; the message is a Russian sentence. Exit code 1. */
export class Refusal extends Error {}

/** Thrown where a command line is wrong; the message says what is. Exit code 2. */
export class UsageError extends Error {}
