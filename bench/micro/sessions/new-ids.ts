import { randomBytes } from 'node:crypto';
import { subIdBytes, subIdText } from '../../../src/sessions/sub-id.ts';

/** Ids of sessions created at a time, random but for that: as those of the service, but unsigned, since a store looks at no signature. */
export function newIds(count: number, createdMs: number): string[] {
  const random = randomBytes(count * subIdBytes);
  return Array.from({ length: count }, (_, at) => {
    const bytes = random.subarray(at * subIdBytes, (at + 1) * subIdBytes);
    bytes.writeUIntBE(createdMs, 0, 6);
    return subIdText(bytes);
  });
}
