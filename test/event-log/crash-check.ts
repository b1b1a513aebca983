import { hash } from 'node:crypto';
import type { Cut, Known, LifeOptions } from './log-life.ts';
import { LogLife } from './log-life.ts';
import type { Fate, SimulatedDisk, UnsyncedChange } from './simulated-disk.ts';

const all = ({ length }: UnsyncedChange): readonly [number, number] => [0, length];
const none = (): readonly [number, number] => [0, 0];

/** Fates of everything at once. */
const commonFates: readonly (readonly [name: string, fate: Fate])[] = [
  ['nothing', none],
  ['everything', all],
  ['every name and no byte', (change) => (change.kind === 'name' ? all(change) : [0, 0])],
  ['half of every write', (change) => (change.kind === 'write' ? [0, change.length >> 1] : all(change))],
];

/** Only where it is the first crash: what recovery does is too short to need them. */
const oddFates: typeof commonFates = [
  ['every byte and no name', (change) => (change.kind === 'name' ? [0, 0] : all(change))],
  ['every size and no byte', (change) => (change.kind === 'write' ? [change.length, change.length] : all(change))],
];

/**
 * Of how many changes of each kind, the newest, one at a time has a fate of its own. Older ones are what failed syncs have
 * left behind, and were the newest at earlier cuts.
 */
const singledOut = 2;

function* singleFates(changes: readonly UnsyncedChange[]): Generator<readonly [name: string, fate: Fate]> {
  for (const { kind, index, count, length } of changes) {
    if (count - index > singledOut) continue;
    const one = (itsFate: Fate, others: Fate): Fate => {
      return (change) => (change.kind === kind && change.index === index ? itsFate(change) : others(change));
    };
    yield [`all but ${kind} ${index}`, one(none, all)];
    yield [`only ${kind} ${index}`, one(all, none)];
    if (kind !== 'write') continue;
    for (const at of new Set([1, length >> 1, length - 1].filter((at) => at > 0 && at < length))) {
      yield [`write ${index} up to its byte ${at}`, one(() => [0, at], all)];
      yield [`write ${index} from its byte ${at} on`, one(() => [at, length], all)];
    }
  }
}

/**
 * Crashes a log at every recorded moment and in every way it knows, recovers it with the production code, and insists that
 * what is found is a prefix of what was appended with all that was acknowledged, that it stays from then on, and that the
 * log goes on. What recovery and going on do is crashed in turn.
 */
export class CrashCheck {
  /** Logs recovered and judged. */
  recoveries = 0;
  readonly #options: LifeOptions;
  readonly #seen = new Set<string>();

  constructor(options: LifeOptions = {}) {
    this.#options = options;
  }

  /** Rejects with what was wrong, naming the moments and the fates. */
  async everyCut(cuts: readonly Cut[]): Promise<void> {
    for (const { step, disk, known } of cuts) {
      const changes = disk.unsyncedChanges();
      for (const crash of crashes(disk, known, [...commonFates, ...oddFates, ...singleFates(changes)])) {
        if (!this.#isNew('first', crash)) continue;
        await blaming(`before "${step}", ${crash.how}`, () => this.#crashed(crash));
      }
    }
  }

  /** One crash, everything that comes after it, and crashes at every moment of that. */
  async #crashed({ disk, known }: Crash): Promise<void> {
    const life = await this.#recovered(disk, known);
    life.append(2);
    // Not closed: the first lives were, and every step of a stop would be crashed again in every way.
    await life.settle();
    // Between the steps of copying a torn tail nothing changes that the log is read from.
    for (const { step, disk, known } of life.cuts.filter(({ step }) => !step.includes('.from-'))) {
      for (const crash of crashes(disk, known, commonFates)) {
        if (!this.#isNew('second', crash)) continue;
        await blaming(`then before "${step}", ${crash.how}`, () => this.#recovered(crash.disk, crash.known));
      }
    }
  }

  /** What recovery has shown must be there even if the power goes right after it. */
  async #recovered(disk: SimulatedDisk, known: Known): Promise<LogLife> {
    this.recoveries += 2;
    const life = await LogLife.open(disk, known, this.#options);
    await LogLife.open(life.disk.afterPowerCut(none), withoutPower(life.known), this.#options);
    return life;
  }

  /** Many moments and fates leave the same disk, and what was checked once need not be again. */
  #isNew(crash: 'first' | 'second', { disk, known }: Crash): boolean {
    const key = hash('sha256', crash + JSON.stringify(known) + disk.fingerprint());
    return this.#seen.size < this.#seen.add(key).size;
  }
}

interface Crash {
  readonly how: string;
  readonly disk: SimulatedDisk;
  readonly known: Known;
}

function* crashes(disk: SimulatedDisk, known: Known, fates: Iterable<readonly [string, Fate]>): Generator<Crash> {
  yield { how: 'killed', disk: disk.copy(), known };
  for (const [name, fate] of fates) {
    yield {
      how: `the power went and ${name} came through`,
      disk: disk.afterPowerCut(fate),
      known: withoutPower(known),
    };
  }
}

export function withoutPower(known: Known): Known {
  return { ...known, acknowledged: known.powerSafe };
}

async function blaming(moment: string, what: () => Promise<unknown>): Promise<void> {
  try {
    await what();
  } catch (error) {
    throw new Error(`${moment}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
