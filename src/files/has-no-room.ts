/** Whether a call of the system, or of SQLite, failed because the device has no space left, a quota is used up, or a file may not grow. */
export function isDiskFull(fault: unknown): boolean {
  return fault instanceof Error && diskFullCodes.has((fault as NodeJS.ErrnoException).code ?? '');
}

const diskFullCodes: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'SQLITE_FULL',
  // The index of a write-ahead log, which lies beside a database while it is open.
  'SQLITE_IOERR_SHMSIZE',
]);

/** Describes a full device to the operator. */
export function diskFullMessage(folder: string): string {
  return `no space left on the device of ${folder}; make room there and try again`;
}
