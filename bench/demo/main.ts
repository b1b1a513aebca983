/**
 * Simulates a few dozen borrowers of a partner that has two variants of a landing page, on a running server: `make demo`. Options:
 * `--help`.
 */
import { parseArgs } from 'node:util';
import { type Borrower, createRandomBorrower } from '../population/borrower.ts';
import { chance, pickRandomByWeight, type Random, seededRandom, type WeightedTable } from '../population/random.ts';
import { parseIntegerOption, runBenchMain } from '../run-main.ts';
import {
  type ApiResponse,
  expectStatus,
  MarketplaceClient,
  type MarketplaceResponse,
  type SummaryResponse,
  sortOrders,
} from './marketplace-client.ts';
import {
  type BorrowerOutcome,
  describeBorrower,
  formatAnalyticsTable,
  formatBorrowerLine,
  formatOffersTable,
  printNote,
  printRequestAndResponse,
  printStepTitle,
} from './print.ts';

const usage = `Usage: make demo [ARGS="options"], or bin/with-node node bench/demo/main.ts --key KEY [options]

  --url URL         API URL of the server (default: API_URL, or http://127.0.0.1:8080/v1)
  --key KEY         a personal-loans API key (default: API_KEY_PERSONAL_LOANS; make demo creates a key and revokes it at the end)
  --borrowers N     number of borrowers, 1 to 1000 (default 36)
  --seed N          seed of the random borrowers (default 7)
  --full            print all requests and responses; default: those of the first borrower
  --help            print this help
`;

/** Click rates by variant. Variant B has a higher click rate than variant A, so that the final table shows a difference. */
const variants = [
  { name: 'A', followsOffer: 0.35 },
  { name: 'B', followsOffer: 0.6 },
] as const;

/** User agents of the visitors, from which the service derives the device. */
const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0';
const userAgents: WeightedTable<string> = [
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${safari}`, 45],
  [`Mozilla/5.0 (Linux; Android 14; Pixel 8) ${chrome} Mobile Safari/537.36`, 20],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 30],
  [`Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) ${safari}`, 5],
];

await runBenchMain('demo', async () => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: process.env.API_URL || 'http://127.0.0.1:8080/v1' },
      key: { type: 'string', default: process.env.API_KEY_PERSONAL_LOANS || '' },
      borrowers: { type: 'string', default: '36' },
      seed: { type: 'string', default: '7' },
      full: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) process.stdout.write(usage);
  else {
    if (!URL.canParse(values.url)) throw new Error('--url must be a URL such as http://127.0.0.1:8080/v1');
    const borrowers = parseIntegerOption('--borrowers', values.borrowers, 1, 1_000);
    const seed = parseIntegerOption('--seed', values.seed, 0, 2 ** 31 - 1);
    if (values.key === '')
      throw new Error('there is no API key; start the demo with `make demo`, or pass a key with --key');
    const client = new MarketplaceClient(values.url, values.key, (seconds) =>
      printNote(`rate limit reached: waiting ${seconds} s (Retry-After)`),
    );
    await run(client, borrowers, seed, values.full);
  }
});

/** Runs the borrowers. With `full`, prints the responses of all borrowers instead of only the first borrower. */
async function run(client: MarketplaceClient, count: number, seed: number, full: boolean): Promise<void> {
  // Sends an invalid request first, to check that the server is running and accepts the key.
  expectStatus(await client.get('/marketplace', {}), 400, 'GET /marketplace without parameters');
  // The referrer tags are unique to this run, so that the final figures cover only its borrowers.
  const started = Date.now().toString(36);
  const tags = variants.map(({ name }) => `demo-${started}-${name.toLowerCase()}`);
  const random = seededRandom(seed);

  for (let number = 1; number <= count; number++) {
    const variant = variants[(number - 1) % variants.length]!;
    const tag = tags[(number - 1) % variants.length]!;
    const borrower = createRandomBorrower(random);
    const sort = sortOrders[(number - 1) % sortOrders.length]!;
    // The first borrower always clicks, so that the output shows every step.
    const follows = chance(random, variant.followsOffer) || number === 1;
    const verbose = full || number === 1;
    const plan: BorrowerPlan = { borrower, tag, sort, follows, incremental: number % 3 === 1, verbose, random };
    if (verbose) printStepTitle(`Borrower ${number}, step by step: ${describeBorrower(borrower)}`);
    else if (number === 2) printStepTitle(`Borrowers 2 to ${count}`);
    const outcome = await walkBorrower(client, plan);
    if (!verbose) console.log(formatBorrowerLine(number, variant.name, borrower, outcome));
  }

  printStepTitle('Analytics of the two variants');
  const summaries: SummaryResponse[] = [];
  for (const tag of tags) {
    const query = { referrer_tag: tag, granularity: 'summary' };
    const answer = await client.get('/analytics', query);
    summaries.push(expectStatus<SummaryResponse>(answer, 200, 'GET /analytics'));
    if (tag === tags[0])
      printRequestAndResponse(`GET /analytics?${new URLSearchParams(query)}`, undefined, answer.status, answer.body);
  }
  console.log(`\n${formatAnalyticsTable(summaries)}\n`);
  printNote(
    'rev_attributed is preliminary. rev_confirmed, and rev_per_session with it, stays 0 until lenders confirm funded loans, ' +
      '14 to 45 days after the clicks.',
  );
}

/** Planned behaviour of one borrower in the demo. */
interface BorrowerPlan {
  readonly borrower: Borrower;
  readonly tag: string;
  readonly sort: (typeof sortOrders)[number];
  /** Whether the borrower clicks an offer if there is one. */
  readonly follows: boolean;
  /** Whether the borrower submits inputs in two requests. */
  readonly incremental: boolean;
  /** Whether every request and response is printed in full. */
  readonly verbose: boolean;
  readonly random: Random;
}

/** Sends the requests of one borrower: session, inputs, offers and possibly a click. */
async function walkBorrower(client: MarketplaceClient, plan: BorrowerPlan): Promise<BorrowerOutcome> {
  const show = (request: string, sent: unknown, answer: ApiResponse) => {
    if (plan.verbose) printRequestAndResponse(request, sent, answer.status, answer.body);
  };

  const opening = {
    referrer_tag: plan.tag,
    user_agent: pickRandomByWeight(plan.random, userAgents),
    metadata: { page: 'demo' },
  };
  const opened = await client.post('/session', opening);
  const { sub_id } = expectStatus<{ sub_id: string }>(opened, 200, 'POST /session');
  show('POST /session', opening, opened);

  let readiness = '';
  for (const fields of plan.incremental ? splitInputs(plan.borrower) : [plan.borrower]) {
    const sent = { sub_id, fields };
    const answer = await client.post('/inputs', sent);
    readiness = expectStatus<{ match_readiness: string }>(answer, 200, 'POST /inputs').match_readiness;
    show('POST /inputs', sent, answer);
  }

  const query = { sub_id, format: 'json', sort: plan.sort };
  const answer = await client.get('/marketplace', query);
  const marketplace = expectStatus<MarketplaceResponse>(answer, 200, 'GET /marketplace');
  show(`GET /marketplace?${new URLSearchParams(query)}`, undefined, answer);
  if (plan.verbose && marketplace.offers.length > 0) console.log(`\n${formatOffersTable(marketplace.offers)}`);

  let clickedHost: string | null = null;
  if (plan.follows && marketplace.offers.length > 0) {
    // Most borrowers click the first offer.
    const chosen = marketplace.offers[Math.floor(plan.random() ** 2 * marketplace.offers.length)]!;
    const click = await client.requestClickUrl(chosen.click_url);
    expectStatus(click, 302, 'The click redirect');
    const location = new URL(click.headers.get('location') ?? '');
    clickedHost = location.host;
    if (plan.verbose) {
      printRequestAndResponse(`GET ${chosen.click_url}`, undefined, click.status, null);
      printNote(`  redirected to ${location.host}${location.pathname} (not followed)`);
    }
  }
  return { readiness, sort: plan.sort, marketplace, clickedHost };
}

/** Splits the inputs like a form of two pages, with amount and purpose on the first page. */
function splitInputs(borrower: Borrower): readonly Partial<Borrower>[] {
  const { loan_amount, loan_purpose, ...rest } = borrower;
  return [{ loan_amount, loan_purpose }, rest];
}
