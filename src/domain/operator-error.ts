/** Error that an operator can fix. The error message is one line that describes the problem and, where possible, the fix. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  /** Whether damaged data caused the error. A command that fails because of damaged data has a separate exit code. */
  readonly isDamage: boolean = false;
}
