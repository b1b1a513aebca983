/** Measures how pacing changes the CPU time and the throughput of `GET /marketplace`; see `usage`. */

import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { msPerDay } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { type LedgerRecord, ledgerRecordKind } from '../../src/ledger/ledger-record.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { fullBenchScale, ProgressPrinter } from '../bench-part.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { chooseLoadClients } from '../load/load-clients.ts';
import { type PreparedRequest, writeRequestFile } from '../load/prepared-request.ts';
import { measureLoad } from '../routes/run-scenario.ts';
import { parseIntegerOption, resultsFolder, runBenchMain } from '../run-main.ts';
import {
  type BorrowerSession,
  clickRequests,
  type MarketplaceResponse,
  marketplaceRequest,
} from '../scenarios/requests.ts';
import { summarizeMeasurements } from '../statistics.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, type ServiceTargetOptions, withServiceTarget } from '../target/service-target.ts';
import { type WrittenSession, writeLiveSessions } from '../target/write-live-sessions.ts';

const usage = `Usage: bin/with-node node bench/pacing/main.ts [options]

Sends the same GET /marketplace requests with cached rankings to two services in turn. In the catalog of one service, a budget with even
pacing hides an offer after each click and shows it again a second later. Each service gets clicks on this offer, about one per second.
Prints the CPU time per request of the paced service, divided by that of the other service.

  --rounds N         number of rounds; default 20
  --help             prints this text
`;

const sessionCount = 5_000;
/** Time for which pacing hides the offer after a click. */
const hiddenMs = 1_000;
const clickIntervalMsMin = 500;
/** Time for which pacing hides the offer at the start; long enough that the offer is still hidden when the service is ready. */
const hiddenAtStartMs = 6_000;
const pollIntervalMs = 50;
const offersPerRequest = 5;
const offersPerPoll = 20;

/** Clicks the offer whenever the service shows it, at most once in `clickIntervalMsMin`, and counts how often the offer comes back. */
class OfferClicker {
  clicks = 0;
  /** Number of times that the offer was shown again after it had been hidden. */
  shownAgain = 0;
  readonly #caller: HttpCaller;
  readonly #sessions: readonly BorrowerSession[];
  readonly #offerId: string;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(caller: HttpCaller, sessions: readonly BorrowerSession[], offerId: string) {
    this.#caller = caller;
    this.#sessions = sessions;
    this.#offerId = offerId;
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    let wasShown = true;
    let nextClickMs = 0;
    while (!this.#stop.signal.aborted) {
      const session = this.#sessions[this.clicks % this.#sessions.length]!;
      const clicks = await clickRequests({ caller: this.#caller }, [session], offersPerPoll);
      const click = clicks.find(({ path }) => path.includes(`offer=${this.#offerId}&`));
      if (click !== undefined && !wasShown) this.shownAgain++;
      wasShown = click !== undefined;
      if (click !== undefined && Date.now() >= nextClickMs) {
        await this.#caller.sendRequests([click], 302);
        this.clicks++;
        nextClickMs = Date.now() + clickIntervalMsMin;
      }
      await sleep(pollIntervalMs);
    }
  }
}

/** Offer that the benchmark clicks, the credit band of the sessions that click the offer, and the indexes of these sessions. */
interface ClickedOffer {
  readonly id: string;
  readonly creditBand: string;
  readonly sessions: readonly number[];
}

interface PreparedService {
  readonly target: ServiceTarget;
  readonly caller: HttpCaller;
  readonly sessions: readonly BorrowerSession[];
}

/**
 * Starts a service with live sessions and the example catalog. If `pacedOffer` is given, this offer gets a budget with even pacing, which
 * hides the offer and shows it again.
 */
async function withService<Result>(
  folder: string,
  pacedOffer: ClickedOffer | null,
  use: (service: PreparedService) => Promise<Result>,
): Promise<Result> {
  const { keys, connections } = fullBenchScale;
  let written: readonly WrittenSession[] = [];
  const catalog = JSON.parse(readFileSync(builtInVerticals.exampleCatalogFile(personalLoans), 'utf8')) as LoanCatalog;
  const paced = pacedOffer === null ? null : addBudget(catalog, pacedOffer);
  const owned = await createTemporaryFolder(folder, 'pacing-');
  const options: ServiceTargetOptions = {
    folder: owned.path,
    keys,
    catalog: paced?.catalog ?? catalog,
    prepareDataDir: async (dataDir) => {
      written = await writeLiveSessions(dataDir, {
        count: sessionCount,
        keys,
        fields: 'all',
        sampleSize: sessionCount,
      });
      if (paced !== null) await bookRevenue(dataDir, written[0]!, pacedOffer!.id, paced.perDayUsd);
    },
  };
  try {
    return await withServiceTarget(options, async (target) => {
      const caller = new HttpCaller(target.port, connections);
      const sessions = written.map((session, at) => ({ ...session, key: target.keys[at % keys]! }));
      try {
        return await use({ target, caller, sessions });
      } finally {
        caller.close();
      }
    });
  } finally {
    await owned.remove();
  }
}

/**
 * Returns a copy of the catalog in which the offer has a budget. The revenue of one click of the credit band is the share of the budget for
 * the time `hiddenMs`.
 */
function addBudget(
  catalog: LoanCatalog,
  { id, creditBand }: ClickedOffer,
): { catalog: LoanCatalog; perDayUsd: number } {
  let perDayUsd = 0;
  const lenders = catalog.lenders.map((lender) => ({
    ...lender,
    offers: lender.offers.map((offer) => {
      if (offer.id !== id) return offer;
      const clickUsd = offer.payout_usd * offer.bands[creditBand]!.confirm_rate!;
      perDayUsd = Math.round(clickUsd * (msPerDay / hiddenMs) * 100) / 100;
      return { ...offer, budget: { per_day_usd: perDayUsd, pacing: 'even' as const } };
    }),
  }));
  return { catalog: { ...catalog, lenders }, perDayUsd };
}

/** Appends the record of one click, which books the total revenue that even pacing allows up to `hiddenAtStartMs` from now. */
async function bookRevenue(dataDir: string, { subId }: WrittenSession, offerId: string, perDayUsd: number) {
  const ledger = await openEventLog<LedgerRecord>({ folder: dataPaths(dataDir).ledgerFolder, durability: 'write' });
  const nowMs = Date.now();
  const micros = Math.round((perDayUsd * 1e6 * ((nowMs % msPerDay) + hiddenAtStartMs)) / msPerDay);
  const sub = Buffer.from(subId.slice('sub_'.length), 'hex');
  await ledger.append([ledgerRecordKind.offerClicked, nowMs, sub, 'bench', offerId, 'bench', micros, true, null])!
    .durable;
  await ledger.close();
}

/** Returns the pair of offer and credit band that occurs in the largest number of answers. */
async function findCommonOffer({ caller, sessions }: PreparedService): Promise<ClickedOffer> {
  const answers = await caller.sendRequests(
    sessions.map((session) => marketplaceRequest(session, offersPerPoll)),
    200,
  );
  const found = answers.flatMap(({ body }, at) =>
    (JSON.parse(body) as MarketplaceResponse).offers.map(({ click_url }) => ({
      at,
      id: new URL(click_url).searchParams.get('offer')!,
      creditBand: sessions[at]!.borrower.credit_score_range,
    })),
  );
  const groups = [...Map.groupBy(found, ({ id, creditBand }) => `${id} ${creditBand}`).values()];
  const largest = groups.reduce((one, other) => (other.length > one.length ? other : one));
  return { ...largest[0]!, sessions: largest.map(({ at }) => at) };
}

async function measure(rounds: number): Promise<void> {
  const progress = new ProgressPrinter();
  const { client, crossCheck } = await chooseLoadClients(undefined);
  const loadClient = crossCheck ?? client;
  const folder = await createTemporaryFolder(resultsFolder, 'run-');
  try {
    await withService(folder.path, null, async (plain) => {
      const common = await findCommonOffer(plain);
      await withService(folder.path, common, async (paced) => {
        const services = [plain, paced];
        const clickers = services.map(({ caller, sessions }) => {
          const clicking = common.sessions.map((at) => sessions[at]!);
          return new OfferClicker(caller, clicking, common.id);
        });
        const cpuMicros: number[][] = [];
        const perSecond: number[][] = [];
        const startedMs = Date.now();
        for (let round = 0; round <= rounds; round++) {
          progress.printProgress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
          const order = round % 2 === 0 ? [0, 1] : [1, 0];
          const figures = new Array<{ readonly cpu: number; readonly rate: number }>(2);
          for (const at of order) {
            const { target, sessions } = services[at]!;
            const requestsFile = join(folder.path, 'requests');
            await writeRequestFile(requestsFile, requestsFor(sessions, target.keys));
            const { connections, seconds } = fullBenchScale;
            const plan = {
              port: target.port,
              requestsFile,
              connections,
              seconds,
              singleUse: false,
              expectedStatus: 200,
            };
            const { mainThreadCpuMicros, perSecond: rate } = await measureLoad(target, loadClient, plan);
            figures[at] = { cpu: mainThreadCpuMicros ?? Number.NaN, rate };
          }
          if (round === 0) continue;
          cpuMicros.push(figures.map(({ cpu }) => cpu));
          perSecond.push(figures.map(({ rate }) => rate));
        }
        const seconds = (Date.now() - startedMs) / 1_000;
        for (const clicker of clickers) await clicker.stop();
        printRatios('CPU time per request', cpuMicros);
        printRatios('requests per second', perSecond);
        const [, { clicks, shownAgain }] = clickers as [OfferClicker, OfferClicker];
        console.log(`paced offer: ${clicks} clicks, came back ${shownAgain} times in ${seconds.toFixed(0)} s`);
        if (shownAgain < seconds / 4)
          throw new Error('the paced offer came back too seldom, so the ratios mean nothing');
      });
    });
  } finally {
    await folder.remove();
  }
}

/** Returns requests for the offers of all sessions, with more keys than sessions, so that no key reaches its rate limit. */
function requestsFor(sessions: readonly BorrowerSession[], keys: readonly string[]): PreparedRequest[] {
  return keys.map((key, at) => ({ ...marketplaceRequest(sessions[at % sessions.length]!, offersPerRequest), key }));
}

function printRatios(name: string, pairs: readonly (readonly number[])[]): void {
  const ratios = summarizeMeasurements(pairs.map(([plain, paced]) => paced! / plain!));
  const [plain, paced] = [0, 1].map((at) => summarizeMeasurements(pairs.map((pair) => pair[at]!)).median);
  const [median, lowest, highest] = [ratios.median, ratios.lowest, ratios.highest].map((ratio) => ratio.toFixed(3));
  console.log(`${name}: ${plain!.toFixed(1)} without and ${paced!.toFixed(1)} with pacing (medians)`);
  console.log(`  ratio ${median} (${lowest} to ${highest})`);
}

await runBenchMain('pacing', async () => {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '20' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  await mkdir(resultsFolder, { recursive: true });
  await measure(parseIntegerOption('--rounds', values.rounds, 1, 1_000));
});
