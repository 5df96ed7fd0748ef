/** A command cannot do what it was asked to; the message is a Russian sentence. Exit code 1. */
export class Refusal extends Error {}

/** A command line is wrong. Exit code 2. */
export class UsageError extends Error {}
