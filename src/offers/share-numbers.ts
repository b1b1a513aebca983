/**
 * The same value with every array of numbers in memory that threads share, so that sending it to another thread copies no
 * numbers. For plain objects, arrays, maps and typed arrays; anything else would arrive as something else, and is refused.
 */
export function shareTypedArrays<Value>(value: Value): Value {
  return toShared(value) as Value;
}

type NumericArray = Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

function toShared(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return copyToSharedBuffer(value as NumericArray);
  if (Array.isArray(value)) return value.map(toShared);
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, toShared(member)]));
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`${value.constructor.name} cannot go to another thread`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toShared(member)]));
}

function copyToSharedBuffer(numbers: NumericArray): NumericArray {
  const OfKind = numbers.constructor as new (buffer: SharedArrayBuffer) => NumericArray;
  const copy = new OfKind(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}
