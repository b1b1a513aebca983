interface ErrorDescription {
  /** Class name of the error, such as `TypeError`. */
  readonly type: string;
  /** Error code of the system, Node.js or SQLite, such as `ENOSPC`. */
  readonly code?: string;
  /** Error message; absent if the message may contain submitted data. */
  readonly message?: string;
  /** Stack frames, such as `at function (file:line:column)`, innermost first. */
  readonly stack?: readonly string[];
  readonly cause?: ErrorDescription;
  /** Errors of an AggregateError: at most the first `errorsMax`. */
  readonly errors?: readonly ErrorDescription[];
}

/** Pino serializers that write the result of `describeError` unchanged. Pino's default serializer expects an Error. */
export const errorSerializers = { err: (description: unknown): unknown => description };

const framesMax = 12;
const depthMax = 4;
const errorsMax = 4;
const charactersMax = 300;

/**
 * Describes any thrown value for the log. The description contains only messages of the operating system, of SQLite and of this project's
 * code. Messages of JavaScript and Node.js are omitted, because they can quote submitted data, such as the argument of `JSON.parse`.
 */
export function describeError(error: unknown): ErrorDescription {
  return describeAtDepth(error, 0);
}

function describeAtDepth(error: unknown, depth: number): ErrorDescription {
  if (!(error instanceof Error)) return { type: error === null ? 'null' : typeof error };
  const stack = stackFrames(error);
  const code = errorCode(error);
  const message = isMessageSafe(error, stack) ? error.message.slice(0, charactersMax) : undefined;
  const hasDepth = depth < depthMax;
  return {
    type: typeof error.constructor === 'function' ? error.constructor.name : 'Error',
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    ...(stack.length > 0 && { stack }),
    ...(hasDepth && error.cause !== undefined && { cause: describeAtDepth(error.cause, depth + 1) }),
    ...(hasDepth &&
      error instanceof AggregateError && {
        errors: error.errors.slice(0, errorsMax).map((each) => describeAtDepth(each, depth + 1)),
      }),
  };
}

function errorCode(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined;
}

function isMessageSafe(error: Error, stack: readonly string[]): boolean {
  const { code, errno, syscall } = error as {
    readonly code?: unknown;
    readonly errno?: unknown;
    readonly syscall?: unknown;
  };
  // The message of a file system error contains only the error, the system call and a path that the service chose.
  if (typeof errno === 'number' && typeof syscall === 'string') return true;
  if (error.constructor.name === 'SqliteError') return true;
  // The message of an `Error` is safe if this project's code threw the error. Errors of other classes, such as `SyntaxError`, and errors
  // with an `ERR_*` code come from JavaScript or Node.js.
  const isNodeError = typeof code === 'string' && code.startsWith('ERR_');
  return (
    error.constructor === Error && !isNodeError && stack[0] !== undefined && !/\bnode:|\/node_modules\//.test(stack[0])
  );
}

/** Returns the stack frames. Skips the error message in `stack`, because its lines may look like stack frames. */
function stackFrames({ stack, message }: Error): string[] {
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const start = stack.indexOf(message);
  if (start < 0) return [];
  return stack
    .slice(start + message.length)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, framesMax)
    .map((line) => line.slice(0, charactersMax));
}
