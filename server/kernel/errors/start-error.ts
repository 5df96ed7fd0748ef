/** Thrown when the product cannot start; the message is a Russian sentence that tells the operator what to do. */
export class StartError extends Error {}
