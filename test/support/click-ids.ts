import { join } from 'node:path';
import { type ClickIdPayload, ClickIds } from '../../src/ids/click-tokens.ts';
import { subIdPrefix } from '../../src/ids/sub-id.ts';
import type { ApiKeyMode } from '../../src/index.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import type { HttpResponse } from './http-client.ts';
import { findListedOffer, type VerticalFixture } from './vertical-fixture.ts';

/** Returns the click_id from a redirect to the landing page of the lender or of the sandbox. */
export function clickIdFromRedirect(
  fixture: VerticalFixture,
  offerId: string,
  { headers }: HttpResponse,
  mode: ApiKeyMode = 'live',
): string {
  const location = headers.get('location') ?? '';
  const template = mode === 'test' ? '/' : findListedOffer(fixture, offerId).offer.landing_url;
  if (template.startsWith('/')) return new URL(location).searchParams.get('click_id') ?? '';
  const [head, tail] = template.split('{click_id}') as [string, string];
  return location.slice(head.length, location.length - tail.length);
}

type UnrecordedClick = Pick<ClickIdPayload, 'offerId' | 'clickedMs' | 'valueMicros'> &
  Partial<Pick<ClickIdPayload, 'payoutMicros'>>;

/** Returns a function that issues click_ids for clicks without a record (docs/contract.md#clicks-without-a-record). */
export function createUnrecordedClickIdIssuer(dataDir: string): (subId: string, click: UnrecordedClick) => string {
  const clickIds = new ClickIds(openOrCreateSecretFile(join(dataDir, 'secrets.json'), true), new RandomBytesPool());
  return (subId, click) =>
    clickIds.issue({
      payoutMicros: null,
      ...click,
      sub: Buffer.from(subId.slice(subIdPrefix.length), 'hex'),
      countable: true,
    });
}
