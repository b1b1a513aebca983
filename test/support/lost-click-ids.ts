import { join } from 'node:path';
import { type ClickIdPayload, ClickIds } from '../../src/ids/click-tokens.ts';
import { subIdPrefix } from '../../src/ids/sub-id.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';

type LostClick = Pick<ClickIdPayload, 'offerId' | 'clickedMs' | 'valueMicros'>;

/** Returns a function that issues click_ids for clicks without a record (docs/contract.md#clicks-without-a-record). */
export function lostClickIds(dataDir: string): (subId: string, click: LostClick) => string {
  const clickIds = new ClickIds(openOrCreateSecretFile(join(dataDir, 'secrets.json'), true), new RandomPool());
  return (subId, click) =>
    clickIds.issue({ ...click, sub: Buffer.from(subId.slice(subIdPrefix.length), 'hex'), countable: true });
}
