import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chance,
  pickWeighted,
  type Random,
  seededRandom,
  type WeightedTable,
  wholeNumber,
} from '../../bench/population/random.ts';
import { createOwnedFolder } from '../../bench/target/owned-resources.ts';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { lostClickIds } from '../support/click-ids.ts';
import { DayLimit } from './day-limit-check.ts';
import { Expectations } from './expectations.ts';
import { Load } from './load.ts';
import type { Caller } from './load-options.ts';
import { createPartner } from './partner.ts';
import { ServerProcess } from './server-process.ts';
import { Tally } from './tally.ts';
import { verify, verifyAll } from './verification.ts';
import type { VerificationOptions } from './verification-options.ts';
import { type Address, type Operation, type Turn, Wire } from './wire.ts';

/** Callers with a live key, and with a test key. */
const callersOf = { live: 6, test: 2 } as const;
/** Requests one life of the server gets to see before it is killed: drawn between these. */
const requestsOfLife = { least: 5, most: 2_000 };
interface KillMoment {
  /** What request the kill then waits for; null: any. */
  readonly operation: Operation | null;
  /** `answered`: it comes with the answer, at once, when what was answered should be durable for just as long. */
  readonly turn: Turn;
  /** How long at most beyond that, so that it finds any moment of the handling of a request. */
  readonly delayMsMax: number;
}

/**
 * An analytics query has the aggregator write what it has read at once, and so has a confirmation, which is then written
 * itself: without waiting for one, a kill would find them doing so by rare chance only.
 */
const killMoments: WeightedTable<KillMoment> = [
  [{ operation: null, turn: 'sent', delayMsMax: 3 }, 4],
  [{ operation: 'query', turn: 'sent', delayMsMax: 3 }, 3],
  // It asks the aggregator first, and waits for those before it.
  [{ operation: 'confirm', turn: 'sent', delayMsMax: 30 }, 3],
  [{ operation: 'report', turn: 'sent', delayMsMax: 3 }, 1],
  [{ operation: null, turn: 'answered', delayMsMax: 0 }, 1],
  // Its views are lost now and then, since nobody waits for them; what it told never.
  [{ operation: 'show', turn: 'answered', delayMsMax: 0 }, 2],
  [{ operation: 'report', turn: 'answered', delayMsMax: 0 }, 3],
  [{ operation: 'confirm', turn: 'answered', delayMsMax: 0 }, 2],
];
/** How often the answers are lost from then on: by a kill alone, few requests are found done and yet unanswered. */
const deafAtKill = 0.5;
/** How often a start is killed, too. */
const startsKilled = 0.4;

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
 * Kills a server under load, restarts it on the same folder and judges what it still knows, `cycles` times. The seed decides
 * what is asked and when the server is killed, as far as the machine's own timing lets it.
 *
 * @throws what a restarted server got wrong, with the seed, the end of the server's log, and the folder, which is kept
 */
export async function runCrashes(options: CrashRunOptions): Promise<Tally> {
  const folder = await createOwnedFolder(tmpdir(), 'marketplace-crash-');
  const run = new CrashRun(options, join(folder.path, 'data'));
  try {
    await run.run();
    return run.tally;
  } catch (fault) {
    run.kill(); // Before a drain changes what is to be looked at.
    folder.keep();
    throw new Error(
      [
        `in cycle ${run.cycle}: ${fault instanceof Error ? fault.message : fault}`,
        `again with: make crash-test CYCLES=${options.cycles} SEED=${options.seed}`,
        `the data folder is kept: ${folder.path}`,
        `the end of the server's log:`,
        ...run.log,
      ].join('\n'),
      { cause: fault },
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
  readonly #random: Random;
  readonly #expectations = new Expectations();
  #server: ServerProcess | null = null;
  #limitsIssued = 0;
  #operatorToken: string | null = null;
  /** What the last start took; a guess before the first. */
  #startMs = 1_000;

  constructor(options: CrashRunOptions, dataDir: string) {
    this.#options = options;
    this.#dataDir = dataDir;
    this.#random = seededRandom(options.seed);
  }

  /** The end of the log of the server that ran last. */
  get log(): readonly string[] {
    return this.#server?.log ?? [];
  }

  async run(): Promise<void> {
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
    let address = await this.#startAtLast();
    for (this.cycle = 1; this.cycle <= this.#options.cycles; this.cycle++) {
      await this.#underLoad(address, callers, limit);
      address = await this.#startAtLast();
      await this.#withWire(address, async (wire) => {
        await verify({ wire, partners, random: this.#random, ...shared });
        if (!(await limit.check(wire, this.#expectations))) limit = await this.#issueLimit();
      });
      this.#say();
    }
    await this.#withWire(address, async (wire) => {
      const last: VerificationOptions = { wire, partners, random: this.#random, ...shared };
      await verify(last);
      await verifyAll(last);
    });
  }

  kill(): void {
    this.#server?.kill();
  }

  async close(): Promise<void> {
    await this.#server?.stop();
  }

  /** The address of a server that was left alone while it started, maybe after others that were not. */
  async #startAtLast(): Promise<Address> {
    while (chance(this.#random, startsKilled)) await this.#killStart();
    const startedMs = performance.now();
    this.#server = this.#spawn();
    const ports = await this.#server.ready();
    this.#startMs = performance.now() - startedMs;
    // Read once: it must open the door of every later life, too.
    this.#operatorToken ??= readOperatorToken(operatorTokenPath(this.#dataDir));
    return { ports, operatorToken: this.#operatorToken };
  }

  #spawn(): ServerProcess {
    return new ServerProcess(this.#dataDir, (message) => this.tally.add(`log: ${message}`));
  }

  /** Kills a server that is still reading back what the last one left. */
  async #killStart(): Promise<void> {
    this.#server = this.#spawn();
    await sleep(this.#random() * this.#startMs);
    this.#server.kill();
    await this.#server.gone();
    this.tally.add('kills of a start');
  }

  /** Load from all callers until the server is killed in the middle of it. */
  async #underLoad(address: Address, callers: readonly Caller[], limit: DayLimit): Promise<void> {
    const server = this.#server!;
    let left = wholeNumber(this.#random, requestsOfLife.least, requestsOfLife.most);
    const moment = pickWeighted(this.#random, killMoments);
    const delayMs = wholeNumber(this.#random, 0, moment.delayMsMax);
    const isDeaf = chance(this.#random, deafAtKill);
    let isDoomed = false;
    const onTurn = (operation: Operation, turn: Turn): void => {
      if (turn === 'sent') {
        this.tally.add('requests');
        left--;
      }
      if (isDoomed || left > 0 || turn !== moment.turn || (moment.operation ?? operation) !== operation) return;
      isDoomed = true;
      if (isDeaf) for (const wire of wires) wire.deafen();
      if (turn === 'answered') server.kill();
      // With no delay the kill races the request it comes with.
      else if (delayMs === 0) setImmediate(() => server.kill());
      else setTimeout(() => server.kill(), delayMs);
    };
    const lostClickId = lostClickIds(this.#dataDir);
    const wires = callers.map(() => new Wire(address, onTurn));
    try {
      const loads = callers.map((caller, index) => {
        const random = seededRandom(wholeNumber(this.#random, 0, seedMax));
        const { tally } = this;
        const shared = { expectations: this.#expectations, tally, lostClickId, limit };
        return new Load({ caller, wire: wires[index]!, random, ...shared }).run();
      });
      await Promise.race([Promise.all(loads), server.endedByItself()]);
      if (!isDoomed) throw new Error('the server let its callers down before it was killed');
      await server.gone();
    } finally {
      for (const wire of wires) wire.close();
    }
    this.tally.add('kills under load');
  }

  async #withWire(address: Address, use: (wire: Wire) => Promise<void>): Promise<void> {
    const wire = new Wire(address);
    try {
      await Promise.race([use(wire), this.#server!.endedByItself()]);
    } finally {
      wire.close();
    }
  }

  #issueLimit(): Promise<DayLimit> {
    this.#limitsIssued++;
    return DayLimit.issue(this.#dataDir, this.#limitsIssued);
  }

  #say(): void {
    const sessions = this.tally.count('sessions answered');
    this.#options.onProgress?.(
      `cycle ${this.cycle} of ${this.#options.cycles}: ${sessions} sessions, ${this.tally.count('requests')} requests under load`,
    );
  }
}
