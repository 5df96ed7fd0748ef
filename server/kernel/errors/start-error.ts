/** The product cannot start; the message tells the operator in Russian what to do. */
export class StartError extends Error {}
