/** Thrown where a backup cannot be made, read or restored; the message is a Russian sentence for the operator. */
export class BackupError extends Error {}
