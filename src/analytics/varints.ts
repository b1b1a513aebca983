/** Lists of counts and of offer numbers as the store keeps them: LEB128 varints, so that most numbers take a byte or two. */
export function encodeVarints(numbers: readonly number[]): Uint8Array | null {
  if (numbers.length === 0) return null;
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

export function decodeVarints(bytes: Uint8Array | null): number[] {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  for (const byte of bytes ?? []) {
    number += (byte & 0x7f) * scale;
    scale *= 0x80;
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
}
