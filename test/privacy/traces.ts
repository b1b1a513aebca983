/** More zeros than any trace ends with. */
const longestTrace = 256;

const known = new Map<string | number, readonly Buffer[]>();

/** What a text or number may look like in a file, an answer or a log; each only once. */
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
  // The digits of base64 depend on where in its group of three bytes the text begins; those at the ends on their neighbours.
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

/** In decimal digits, as an integer of 32 bits, as a double, and as the two in msgpack, which are big-endian. */
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
 * Whether a trace is there. Digits must stand alone: the times and sums of a log or a scrape are long rows of digits, and one
 * run in fifty would find a postal code in the middle of a timestamp.
 */
function isIn(bytes: Buffer, trace: Buffer): boolean {
  // Ten digits and more, such as a postal code in hexadecimal, are not met by chance.
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

/** The names of those values that have left a trace in some bytes. */
export function findTraces(values: ReadonlyMap<string, string | number>, whole: Buffer): string[] {
  // Logs reserve zeros ahead of their data, which are quickly passed over here and slowly by a search for each trace.
  let end = whole.length;
  while (end > 0 && whole[end - 1] === 0) end--;
  const bytes = whole.subarray(0, end + longestTrace);
  return [...values].filter(([, value]) => tracesOf(value).some((trace) => isIn(bytes, trace))).map(([name]) => name);
}
