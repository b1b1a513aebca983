import type { Mode } from '../../src/index.ts';
import type { Answer } from './http-client.ts';
import { listedOffer, type VerticalFixture } from './vertical-fixture.ts';

/** Returns the click_id from a redirect to the landing page of the lender or of the sandbox. */
export function clickIdOf(fixture: VerticalFixture, offerId: string, { headers }: Answer, mode: Mode = 'live'): string {
  const location = headers.get('location') ?? '';
  if (mode === 'test') return new URL(location).searchParams.get('click_id') ?? '';
  const [head, tail] = listedOffer(fixture, offerId).offer.landing_url.split('{click_id}') as [string, string];
  return location.slice(head.length, location.length - tail.length);
}
