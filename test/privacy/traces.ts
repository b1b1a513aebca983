/** More zero bytes than any trace has at its end. */
const longestTrace = 256;

const known = new Map<string | number, readonly Buffer[]>();

/** Returns the distinct encodings of a text or number that a file, response or log may contain. */
function tracesOf(value: string | number): readonly Buffer[] {
  let traces = known.get(value);
  if (traces === undefined) {
    const all = typeof value === 'string' ? textTraces(value) : numberTraces(value);
    traces = all.filter((trace, at) => all.findIndex((other) => other.equals(trace)) === at);
    known.set(value, traces);
  }
  return traces;
}

function textTraces(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  // The base64 digits of a text depend on its offset modulo 3. The first and last digits also depend on adjacent bytes.
  const base64 = [0, 1, 2].map((offset) => {
    const digits = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const whole = Math.floor(((offset + bytes.length) * 8) / 6);
    return digits.slice(Math.ceil((offset * 8) / 6), whole);
  });
  const texts = [
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  return [
    bytes,
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    ...texts.map((one) => Buffer.from(one)),
  ];
}

/** Encodings of a number: decimal digits, a 32-bit integer, a double, and the big-endian forms of msgpack. */
function numberTraces(number: number): Buffer[] {
  const integers = Buffer.alloc(8);
  integers.writeUInt32BE(number, 0);
  integers.writeUInt32LE(number, 4);
  const doubles = Buffer.alloc(16);
  doubles.writeDoubleBE(number, 0);
  doubles.writeDoubleLE(number, 8);
  return [
    Buffer.from(String(number)),
    integers.subarray(0, 4),
    integers.subarray(4),
    doubles.subarray(0, 8),
    doubles.subarray(8),
  ];
}

/**
 * Whether the bytes contain a trace. A trace of digits must not be part of a longer number: logs and metrics contain long
 * numbers, and about one run in fifty would find a postal code inside a timestamp.
 */
function isIn(bytes: Buffer, trace: Buffer): boolean {
  // Ten or more digits, such as a postal code in hexadecimal, do not occur by chance.
  if (trace.length >= longDigits || !trace.every(isDigit)) return bytes.includes(trace);
  for (let at = bytes.indexOf(trace); at >= 0; at = bytes.indexOf(trace, at + 1)) {
    const isWithinNumber =
      isDigit(bytes[at + trace.length]) ||
      isDigit(bytes[at - 1]) ||
      (bytes[at - 1] === point && isDigit(bytes[at - 2]));
    if (!isWithinNumber) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

const point = 0x2e;
const longDigits = 10;

/** Returns the names of the values whose traces occur in the bytes. */
export function findTraces(values: ReadonlyMap<string, string | number>, whole: Buffer): string[] {
  // Logs preallocate zeros after their data. Skipping the zeros is faster than a search for each trace.
  let end = whole.length;
  while (end > 0 && whole[end - 1] === 0) end--;
  const bytes = whole.subarray(0, end + longestTrace);
  return [...values].filter(([, value]) => tracesOf(value).some((trace) => isIn(bytes, trace))).map(([name]) => name);
}
