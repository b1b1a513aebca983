import { createMarketplace, personalLoans, type Result } from '../../../src/index.ts';
import { writeLine } from '../../support/write-line.ts';

/**
 * Clicks one offer with a new session for each click and eight clicks at a time, until the offer is unavailable. Writes
 * `clicked` for each redirect: `node click-after-click.ts FOLDER LIVE_CATALOG SANDBOX_CATALOG OFFER FIELDS KEY`. If the key
 * is empty, the program creates a key and writes the key first. Its clock always shows noon of the same day. The program
 * runs until it is killed.
 */
const [, , dataDir = '', live = '', sandbox = '', offerId = '', fields = '', givenKey = ''] = process.argv;

function ok<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.error.error);
  return result.value;
}

const marketplace = await createMarketplace({
  dataDir,
  clock: {
    wallMs: () => Date.UTC(2026, 4, 20, 12) + Math.floor(performance.now()),
    monotonicMs: () => performance.now(),
  },
  urls: { click: 'https://go.example' },
  catalogs: [
    { vertical: personalLoans, mode: 'live', file: live },
    { vertical: personalLoans, mode: 'test', file: sandbox },
  ],
});
let key = givenKey;
if (key === '') {
  const limits = { requestsPerMinute: 1_000_000, sessionsPerDay: 1_000_000 };
  key = marketplace.keys.create({ account: 'killed', vertical: 'personal-loans', mode: 'live', limits }).key;
  writeLine(key);
}
const partner = marketplace.partner(key);

async function click(): Promise<void> {
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'killed' }));
  ok(await partner.submitInputs({ sub_id, fields: JSON.parse(fields) }));
  const { offers } = ok(await partner.getMarketplace({ sub_id, max_offers: 20 }));
  const url = offers.find((offer) => offer.svc_offer_id === offerId)?.click_url;
  if (url === undefined) return;
  const outcome = await marketplace.followClick(url);
  if (outcome.kind === 'redirect') writeLine('clicked');
}

for (;;) await Promise.all(Array.from({ length: 8 }, click));
