/** An exception as a log may show it. */
interface ErrorDescription {
  /** Name of its class, such as `TypeError`. */
  readonly type: string;
  /** What the system, Node.js or SQLite names it by, such as `ENOSPC`. */
  readonly code?: string;
  /** Only where whoever wrote it cannot have put in what was submitted. */
  readonly message?: string;
  /** Where it came from: one `at function (file:line:column)` an item, the innermost first. */
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
  /** Of an AggregateError: the first few. */
  readonly errors?: readonly ErrorDescription[];
}

const framesMax = 12;
const depthMax = 4;
const errorsMax = 4;
const charactersMax = 300;

/**
 * What a log tells of an exception, whatever was thrown. The messages of the language and of Node.js quote what they were given: a
 * `JSON.parse` its text, a `new URL` its address, a `BigInt` its digits. So a message stands here only where it is the system's, SQLite's
 * or one that our own code wrote; of all others the kind, the code and the place tell what there is to know. Other properties of an
 * exception are never looked at.
 */
export function describeError(fault: unknown): ErrorDescription {
  return describeAtDepth(fault, 0);
}

function describeAtDepth(fault: unknown, depth: number): ErrorDescription {
  if (!(fault instanceof Error)) return { type: fault === null ? 'null' : typeof fault };
  const at = stackFrames(fault);
  const code = errorCode(fault);
  const message = isMessageSafe(fault, at) ? fault.message.slice(0, charactersMax) : undefined;
  const deeper = depth < depthMax;
  return {
    type: typeof fault.constructor === 'function' ? fault.constructor.name : 'Error',
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    ...(at.length > 0 && { at }),
    ...(deeper && fault.cause !== undefined && { cause: describeAtDepth(fault.cause, depth + 1) }),
    ...(deeper &&
      fault instanceof AggregateError && {
        errors: fault.errors.slice(0, errorsMax).map((error) => describeAtDepth(error, depth + 1)),
      }),
  };
}

function errorCode(fault: Error): string | undefined {
  const { code } = fault as { readonly code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined;
}

function isMessageSafe(fault: Error, at: readonly string[]): boolean {
  const { code, errno, syscall } = fault as {
    readonly code?: unknown;
    readonly errno?: unknown;
    readonly syscall?: unknown;
  };
  // Of the file system: a call, its error and one of our own paths.
  if (typeof errno === 'number' && typeof syscall === 'string') return true;
  if (fault.constructor.name === 'SqliteError') return true;
  // Thrown by our own code in words of its own; `TypeError` and its like come from the language, ERR_* from Node.js.
  const isNodes = typeof code === 'string' && code.startsWith('ERR_');
  return fault.constructor === Error && !isNodes && at[0] !== undefined && !/\bnode:|\/node_modules\//.test(at[0]);
}

/** Only what stands behind the message: that may have lines of its own which look like frames. */
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
