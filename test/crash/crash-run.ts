import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chance,
  pickRandomByWeight,
  type Random,
  seededRandom,
  type WeightedTable,
  wholeNumber,
} from '../../bench/population/random.ts';
import { createTemporaryFolder } from '../../bench/target/owned-resources.ts';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createUnrecordedClickIdIssuer } from '../support/click-ids.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { BudgetClicks, checkBudgets, checkBudgetsInLedger, runBudgetLoad, withBudgetOffers } from './budget-load.ts';
import type { Caller, VerificationOptions } from './expectations.ts';
import { Expectations, Tally } from './expectations.ts';
import { checkExperiments, ExpectedExperiments, ExperimentRecount, runExperimentLoad } from './experiments.ts';
import { Load } from './load.ts';
import { createPartner, type Partner, ServerProcess } from './server-process.ts';
import { checkDayLimit, createDayLimit, type DayLimit } from './session-checks.ts';
import { verify, verifyAll } from './verification.ts';
import { type Address, type Operation, ServerConnections, type Turn } from './wire.ts';

/** Number of callers by mode of their key. */
const callersOf = { live: 6, test: 2 } as const;
/** Number of callers that click the offers with budgets. */
const budgetCallers = 2;
/** Range of the number of requests before the server is killed. */
const requestsBeforeKill = { min: 5, max: 2_000 };

const logLinesMax = 20;

interface KillMoment {
  /** Operation of the request at which the server is killed; null for any operation. */
  readonly operation: Operation | null;
  readonly turn: Turn;
  /** Maximum delay of the kill, so that any step of the handling can be interrupted. */
  readonly delayMsMax: number;
}

/** Analytics queries and confirmations have separate entries, because they let the aggregator write, and random kills would rarely hit that. */
const killMoments: WeightedTable<KillMoment> = [
  [{ operation: null, turn: 'sent', delayMsMax: 3 }, 4],
  [{ operation: 'query', turn: 'sent', delayMsMax: 3 }, 3],
  // A confirmation waits for the aggregator and for earlier confirmations.
  [{ operation: 'confirm', turn: 'sent', delayMsMax: 30 }, 3],
  [{ operation: 'report', turn: 'sent', delayMsMax: 3 }, 1],
  [{ operation: 'define', turn: 'sent', delayMsMax: 30 }, 2],
  [{ operation: 'close', turn: 'sent', delayMsMax: 30 }, 2],
  [{ operation: null, turn: 'answered', delayMsMax: 0 }, 1],
  // Views may be lost, but reported events may not.
  [{ operation: 'show', turn: 'answered', delayMsMax: 0 }, 2],
  [{ operation: 'report', turn: 'answered', delayMsMax: 0 }, 3],
  [{ operation: 'confirm', turn: 'answered', delayMsMax: 0 }, 2],
  // A new experiment counts earlier sessions after its answer.
  [{ operation: 'define', turn: 'answered', delayMsMax: 0 }, 2],
  [{ operation: 'close', turn: 'answered', delayMsMax: 0 }, 2],
];
/** Probability that the answers after the kill was scheduled are discarded. Otherwise few requests are executed without an answer. */
const discardAnswersProbability = 0.5;
/** Probability that a start is killed. */
const killStartProbability = 0.4;
/** Probability that a server is stopped after its start, so that later kills find the snapshot of the booked revenue. */
const stopProbability = 0.3;

interface CrashRunOptions {
  readonly cycles: number;
  readonly seed: number;
  readonly onProgress?: (text: string) => void;
}

export const seedMax = 2 ** 31 - 1;

export function anySeed(): number {
  return randomInt(seedMax);
}

/**
 * Repeatedly kills a server under load, restarts it on the same folder, and verifies its data. The seed determines the requests and, apart
 * from the timing of the machine, the kills.
 *
 * @throws an error with the seed, the end of the server's log, and the data folder, which is kept
 */
export async function runCrashes(options: CrashRunOptions): Promise<Tally> {
  const folder = await createTemporaryFolder(tmpdir(), 'marketplace-crash-');
  const dataDir = join(folder.path, 'data');
  const run = new CrashRun(options, dataDir, join(folder.path, 'catalog.json'));
  try {
    const bookedMicros = await run.run();
    await run.close();
    await checkBudgetsInLedger(dataPaths(dataDir).ledgerFolder, bookedMicros, run.tally);
    return run.tally;
  } catch (error) {
    // Without the kill, the server would change the data folder while it stops.
    run.kill();
    folder.skipFolderCleanup();
    throw new Error(
      [
        `in cycle ${run.cycle}: ${error instanceof Error ? error.message : error}`,
        `repeat with: make crash-test CYCLES=${options.cycles} SEED=${options.seed}`,
        `the data folder is kept: ${folder.path}`,
        `last log lines of the server:`,
        ...run.log,
      ].join('\n'),
      { cause: error },
    );
  } finally {
    await run.close();
    await folder.remove();
  }
}

class CrashRun {
  readonly tally = new Tally();
  cycle = 0;
  readonly #options: CrashRunOptions;
  readonly #dataDir: string;
  readonly #catalog: string;
  readonly #budgetClicks = new BudgetClicks();
  readonly #experiments = new ExpectedExperiments();
  readonly #recount: ExperimentRecount;
  readonly #random: Random;
  readonly #expectations = new Expectations();
  #server: ServerProcess | null = null;
  #limitsIssued = 0;
  #operatorToken: string | null = null;
  /** Duration of the last start; an estimate before the first start. */
  #startMs = 1_000;

  constructor(options: CrashRunOptions, dataDir: string, catalog: string) {
    this.#options = options;
    this.#dataDir = dataDir;
    this.#catalog = catalog;
    writeFileSync(catalog, JSON.stringify(withBudgetOffers(personalLoansFixture.catalogFiles.live)));
    this.#recount = new ExperimentRecount(dataPaths(dataDir));
    this.#random = seededRandom(options.seed);
  }

  /** Last log lines of the last server. */
  get log(): readonly string[] {
    return (this.#server?.log ?? []).slice(-logLinesMax).map((line) => JSON.stringify(line));
  }

  /** Returns the cents that the offers with budgets have booked according to the analytics. */
  async run(): Promise<ReadonlyMap<string, number>> {
    const [live, test] = await Promise.all([
      createPartner(this.#dataDir, 'live'),
      createPartner(this.#dataDir, 'test'),
    ]);
    const partners = { live, test };
    const shared = { expectations: this.#expectations, tally: this.tally };
    const callers = (['live', 'test'] as const).flatMap((mode) =>
      Array.from(
        { length: callersOf[mode] },
        (_, index): Caller => ({ name: `${mode}-${index + 1}`, partner: partners[mode], sessions: [] }),
      ),
    );
    let limit = await this.#issueLimit();
    let address = await this.#startServer();
    for (this.cycle = 1; this.cycle <= this.#options.cycles; this.cycle++) {
      await this.#killUnderLoad(address, callers, live, limit);
      address = await this.#startServer();
      await this.#withWire(address, async (wire) => {
        await verify({ wire, partners, random: this.#random, ...shared });
        await checkBudgets(wire, live, this.#budgetClicks);
        await checkExperiments({ partner: live, wire, experiments: this.#experiments, tally: this.tally });
        await this.#recount.check(this.tally);
        if (!(await checkDayLimit(limit, wire, this.#expectations))) limit = await this.#issueLimit();
      });
      this.#reportProgress();
    }
    await this.#withWire(address, async (wire) => {
      const last: VerificationOptions = { wire, partners, random: this.#random, ...shared };
      await verify(last);
      await verifyAll(last);
      await this.#recount.check(this.tally);
    });
    return await this.#withWire(address, (wire) => checkBudgets(wire, live, this.#budgetClicks));
  }

  kill(): void {
    this.#server?.kill();
  }

  async close(): Promise<void> {
    await this.#server?.stop();
  }

  /** Starts a server, possibly after starts that were killed. */
  async #startServer(): Promise<Address> {
    while (chance(this.#random, killStartProbability)) await this.#killStart();
    if (chance(this.#random, stopProbability)) await this.#startAndStop();
    const startedMs = performance.now();
    this.#server = this.#spawn();
    const ports = await this.#server.ready();
    this.#startMs = performance.now() - startedMs;
    // The token is read once, because it must not change.
    this.#operatorToken ??= readOperatorToken(operatorTokenPath(this.#dataDir));
    return { ports, operatorToken: this.#operatorToken };
  }

  #spawn(): ServerProcess {
    const server = new ServerProcess(this.#dataDir, this.#catalog);
    server.onLog = ({ msg }) => this.tally.add(`log: ${msg}`);
    return server;
  }

  /** Starts a server and stops it with SIGTERM. */
  async #startAndStop(): Promise<void> {
    this.#server = this.#spawn();
    await this.#server.ready();
    await this.#server.stop();
    this.tally.add('stops');
  }

  /** Kills a server during recovery. */
  async #killStart(): Promise<void> {
    this.#server = this.#spawn();
    await sleep(this.#random() * this.#startMs);
    this.#server.kill();
    await this.#server.ended;
    this.tally.add('kills of a start');
  }

  /** Runs the load of all callers until the server is killed. */
  async #killUnderLoad(address: Address, callers: readonly Caller[], live: Partner, limit: DayLimit): Promise<void> {
    const server = this.#server!;
    let left = wholeNumber(this.#random, requestsBeforeKill.min, requestsBeforeKill.max);
    const moment = pickRandomByWeight(this.#random, killMoments);
    const delayMs = wholeNumber(this.#random, 0, moment.delayMsMax);
    const discardsAnswers = chance(this.#random, discardAnswersProbability);
    let isKillScheduled = false;
    const onTurn = (operation: Operation, turn: Turn): void => {
      if (turn === 'sent') {
        this.tally.add('requests');
        left--;
      }
      if (isKillScheduled || left > 0 || turn !== moment.turn || (moment.operation ?? operation) !== operation) return;
      isKillScheduled = true;
      if (discardsAnswers) for (const wire of wires) wire.discardAnswers();
      if (turn === 'answered') server.kill();
      // Without a delay, the kill competes with the request.
      else if (delayMs === 0) setImmediate(() => server.kill());
      else setTimeout(() => server.kill(), delayMs);
    };
    const lostClickId = createUnrecordedClickIdIssuer(this.#dataDir);
    const budgetWires = Array.from({ length: budgetCallers }, () => new ServerConnections(address, onTurn));
    const callerWires = callers.map(() => new ServerConnections(address, onTurn));
    const experimentWire = new ServerConnections(address, onTurn);
    const wires = [...callerWires, ...budgetWires, experimentWire];
    try {
      const loads = callers.map((caller, index) => {
        const random = seededRandom(wholeNumber(this.#random, 0, seedMax));
        const { tally } = this;
        const shared = { expectations: this.#expectations, experiments: this.#experiments, tally, lostClickId, limit };
        return new Load({ caller, wire: callerWires[index]!, random, ...shared }).run();
      });
      for (const wire of budgetWires) {
        const random = seededRandom(wholeNumber(this.#random, 0, seedMax));
        loads.push(runBudgetLoad({ partner: live, wire, random, clicks: this.#budgetClicks, tally: this.tally }));
      }
      const random = seededRandom(wholeNumber(this.#random, 0, seedMax));
      const { tally } = this;
      loads.push(
        runExperimentLoad({ partner: live, wire: experimentWire, random, experiments: this.#experiments, tally }),
      );
      await Promise.race([Promise.all(loads), server.endedByItself()]);
      if (!isKillScheduled) throw new Error('the server dropped connections before it was killed');
      await server.ended;
    } finally {
      for (const wire of wires) wire.close();
    }
    this.tally.add('kills under load');
  }

  async #withWire<Result>(address: Address, use: (wire: ServerConnections) => Promise<Result>): Promise<Result> {
    const wire = new ServerConnections(address);
    try {
      return await Promise.race([use(wire), this.#server!.endedByItself()]);
    } finally {
      wire.close();
    }
  }

  #issueLimit(): Promise<DayLimit> {
    this.#limitsIssued++;
    return createDayLimit(this.#dataDir, this.#limitsIssued);
  }

  #reportProgress(): void {
    const sessions = this.tally.count('sessions answered');
    this.#options.onProgress?.(
      `cycle ${this.cycle} of ${this.#options.cycles}: ${sessions} sessions, ${this.tally.count('requests')} requests under load`,
    );
  }
}
