/** Error that an operator can fix. The message is one line that says what is wrong and, where possible, what to do. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  /** Whether stored data is damaged. A command that fails with such an error exits with a different code. */
  readonly isDamage: boolean = false;
}
