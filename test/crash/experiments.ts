import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import { openAnalyticsDatabaseReadOnly } from '../../src/analytics/analytics-database.ts';
import { readExperimentFigures } from '../../src/analytics/experiments/experiment-figures-reader.ts';
import type { SqlDatabase } from '../../src/analytics/sql-database.ts';
import { daysSinceEpoch, formatIsoDate } from '../../src/domain/calendar.ts';
import { LogReader } from '../../src/event-log/log-reader.ts';
import type { LogCursor } from '../../src/event-log/log-scanner.ts';
import type { ExperimentFigures } from '../../src/experiments/experiment-figures.ts';
import type { DataPaths } from '../../src/files/data-paths.ts';
import type { ExperimentResponse } from '../../src/index.ts';
import { parseLedgerRecord } from '../../src/ledger/ledger-record.ts';
import { normalize } from '../analytics/comparable-figures.ts';
import { ExperimentModel } from '../analytics/experiment-model.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { drawOne, type Tally } from './expectations.ts';
import type { Partner } from './server-process.ts';
import { isAccepted, retryUntilAnswered, type ServerConnections } from './wire.ts';

/** Number of unit_ids of the sessions of an experiment. */
export const visitorCount = 200;
/** Probability that a run of the server defines an experiment whose tags have sessions already. */
const defineLateProbability = 0.4;
/** Probability that a run of the server closes an experiment, and that a request about an experiment is a closing. Most repeat an earlier one. */
const closeProbability = 0.5;
const closingRequestProbability = 0.2;
const fillTimeoutMs = 60_000;
/** Days after which the figures of today's sessions are final. */
const daysUntilMature = 100;

/** An experiment, and what requests may have changed. */
interface ExpectedExperiment {
  readonly name: string;
  readonly tags: readonly [string, string];
  readonly unit: 'session' | 'visitor';
  /** A date before the creation lets the experiment count earlier sessions. */
  readonly startsOn: string;
  /** Whether the experiment exists; null if its first definition has no answer. */
  isDefined: boolean | null;
  /** Hypotheses that the experiment may have: that of the last answered definition, and those of later unanswered definitions. */
  hypotheses: Set<string>;
  /** Whether the experiment is closed; null if its closing has no answer. */
  isClosed: boolean | null;
}

/** Experiments of the live partner, in all runs of the server. */
export class ExpectedExperiments {
  readonly #experiments = [
    createExpected('by-session', ['session-a', 'session-b'], 'session', yesterday()),
    createExpected('by-visitor', ['visitor-a', 'visitor-b'], 'visitor', yesterday()),
  ];
  /** An experiment that is not defined yet, although its tags have sessions. */
  #late = createLate(1);

  get all(): readonly ExpectedExperiment[] {
    return this.#experiments;
  }

  /** Referrer tags that sessions should have. */
  get tags(): readonly string[] {
    return [...this.#experiments.slice(0, 2), this.#late].flatMap(({ tags }) => tags);
  }

  /** Adds an experiment whose tags have sessions. */
  addLate(): ExpectedExperiment {
    const late = this.#late;
    this.#experiments.push(late);
    this.#late = createLate(this.#experiments.length);
    return late;
  }

  /** Marks an experiment as closed. If its tags still get sessions, adds an experiment that takes the tags over. */
  setClosed(closed: ExpectedExperiment): void {
    if (closed.isClosed === true) return;
    closed.isClosed = true;
    const { tags, unit } = closed;
    if (!this.#experiments.slice(0, 2).some((first) => first.tags === tags)) return;
    const name = `by-${unit}-${this.#experiments.length}`;
    this.#experiments.push(createExpected(name, tags, unit, formatIsoDate(daysSinceEpoch(Date.now()))));
  }
}

function createLate(number: number): ExpectedExperiment {
  return createExpected(
    `late-${number}`,
    [`late-${number}-a`, `late-${number}-b`],
    number % 2 === 0 ? 'session' : 'visitor',
    yesterday(),
  );
}

function yesterday(): string {
  return formatIsoDate(daysSinceEpoch(Date.now()) - 1);
}

function createExpected(
  name: string,
  tags: readonly [string, string],
  unit: ExpectedExperiment['unit'],
  startsOn: string,
): ExpectedExperiment {
  return { name, tags, unit, startsOn, isDefined: false, hypotheses: new Set(), isClosed: false };
}

interface ExperimentLoadOptions {
  readonly partner: Partner;
  readonly wire: ServerConnections;
  readonly random: Random;
  readonly experiments: ExpectedExperiments;
  readonly tally: Tally;
}

/** Defines, changes and closes experiments, one request after another, until the connection is lost. */
export async function runExperimentLoad(options: ExperimentLoadOptions): Promise<void> {
  const { wire, random, experiments } = options;
  for (const experiment of experiments.all) if (experiment.isDefined === false) await define(options, experiment);
  let isLateDue = chance(random, defineLateProbability);
  let isClosingDue = chance(random, closeProbability);
  while (!wire.isLost) {
    await sleep(wholeNumber(random, 0, 200));
    const open = experiments.all.filter(({ isClosed }) => isClosed === false);
    if (chance(random, closingRequestProbability)) {
      const closed = experiments.all.filter(({ isClosed }) => isClosed !== false);
      const closable = isClosingDue || closed.length === 0 ? open.filter(({ isDefined }) => isDefined) : closed;
      const experiment = drawOne(random, closable);
      if (experiment === undefined) continue;
      await close(options, experiment);
      isClosingDue = false;
    } else {
      const experiment = isLateDue ? experiments.addLate() : drawOne(random, open);
      if (experiment !== undefined) await define(options, experiment);
      isLateDue = false;
    }
  }
}

/** Closes an experiment, or repeats the closing. */
async function close(options: ExperimentLoadOptions, experiment: ExpectedExperiment): Promise<void> {
  const { partner, wire, experiments, tally } = options;
  tally.add('closings sent');
  experiment.isClosed ||= null;
  const answer = await wire.closeExperiment(partner, experiment.name, closingOf(experiment));
  if (!isChanged(answer, tally)) return tally.add('closings unanswered');
  assertClosing(experiment, JSON.parse(answer.text) as ExperimentResponse);
  tally.add(experiment.isClosed ? 'repeated closings answered' : 'closings answered');
  experiments.setClosed(experiment);
}

/** Whether a change was accepted. In a long run of the server, the load exceeds the limit of changes per minute. */
function isChanged(answer: HttpResponse | null, tally: Tally): answer is HttpResponse {
  if (answer?.status !== 429) return isAccepted(answer, tally);
  tally.add('changes of experiments above the limit');
  return false;
}

function closingOf({ name }: ExpectedExperiment) {
  return { outcome: 'keep_control', note: `closing of ${name}` };
}

function assertClosing(experiment: ExpectedExperiment, { name, closing }: ExperimentResponse): void {
  assert.ok(closing !== null, `${name} is not closed`);
  const { outcome, note } = closing;
  assert.deepEqual({ outcome, note }, closingOf(experiment));
}

/** Defines or changes an experiment, with a new hypothesis. */
async function define({ partner, wire, tally }: ExperimentLoadOptions, experiment: ExpectedExperiment): Promise<void> {
  const { name, tags, unit, startsOn, hypotheses } = experiment;
  const hypothesis = `hypothesis ${tally.count('definitions sent')}`;
  tally.add('definitions sent');
  hypotheses.add(hypothesis);
  experiment.isDefined ||= null;
  const answer = await wire.defineExperiment(partner, name, {
    arms: tags.map((referrer_tag) => ({ referrer_tag, weight: 0.5 })),
    control: tags[0],
    unit,
    starts_on: startsOn,
    cap_usd: 500,
    hypothesis,
  });
  if (!isChanged(answer, tally)) return tally.add('definitions unanswered');
  assert.equal((JSON.parse(answer.text) as ExperimentResponse).hypothesis, hypothesis);
  experiment.isDefined = true;
  experiment.hypotheses = new Set([hypothesis]);
  tally.add('definitions answered');
}

/** Compares the experiments of a restarted server with the answered and unanswered requests. */
export async function checkExperiments({
  partner,
  wire,
  experiments,
  tally,
}: Omit<ExperimentLoadOptions, 'random'>): Promise<void> {
  for (const experiment of experiments.all) {
    const { name, hypotheses } = experiment;
    const find = () => wire.getExperiment(partner, name);
    if (experiment.isDefined === null && (await find())?.status === 404) {
      experiment.isDefined = false;
      hypotheses.clear();
      tally.add('unanswered definitions of new experiments that were lost');
    }
    if (experiment.isDefined === false) continue;
    const found = JSON.parse((await retryUntilAnswered(find)).text) as ExperimentResponse;
    const { hypothesis, closing } = found;
    assert.ok(hypotheses.has(hypothesis ?? ''), `${name} has the hypothesis ${hypothesis}`);
    experiment.isDefined = true;
    experiment.hypotheses = new Set([hypothesis!]);
    if (experiment.isClosed === true) tally.add('closings found after a restart');
    if (experiment.isClosed === null) tally.add(`unanswered closings that were ${closing === null ? 'lost' : 'found'}`);
    if (experiment.isClosed === null && closing === null) experiment.isClosed = false;
    if (experiment.isClosed === false) assert.equal(closing, null);
    else {
      assertClosing(experiment, found);
      experiments.setClosed(experiment);
    }
    tally.add('experiments compared after a restart');
  }
}

/** Compares the figures of experiments in the store with those of a model that reads the same ledger records. */
export class ExperimentRecount {
  readonly #files: DataPaths;
  readonly #model = new ExperimentModel();
  #cursor: LogCursor | null = null;

  constructor(files: DataPaths) {
    this.#files = files;
  }

  /** Waits until earlier sessions of new experiments are counted. The server may be running. */
  async check(tally: Tally): Promise<void> {
    const database = openAnalyticsDatabaseReadOnly(this.#files.analyticsStoreFile);
    try {
      this.#readLedger(readPosition(database));
      for (const experiment of this.#model.experiments) {
        const { name, tenant } = experiment;
        const { account, vertical, mode } = tenant;
        const query = { account, vertical, mode, name, asOf: daysSinceEpoch(Date.now()) + daysUntilMature };
        const read = () =>
          database.read(() => [readPosition(database), readExperimentFigures(database, query)!.figures] as const);
        let [position, figures] = read();
        for (const deadline = performance.now() + fillTimeoutMs; figures.fillProgress !== null; ) {
          assert.ok(performance.now() < deadline, `${name}: earlier sessions are still not counted`);
          tally.add('looks at an experiment before all its sessions were counted');
          await sleep(5);
          [position, figures] = read();
        }
        this.#readLedger(position);
        assert.deepEqual(normalize(figures), normalize(this.#model.figures(experiment, query.asOf)), name);
        tally.add('experiments recounted');
      }
    } finally {
      database.close();
    }
  }

  /** Returns the figures of an experiment by all ledger records that the store includes. */
  figuresOf(name: string, asOf: number): ExperimentFigures {
    const database = openAnalyticsDatabaseReadOnly(this.#files.analyticsStoreFile);
    this.#readLedger(readPosition(database));
    database.close();
    return this.#model.figures(this.#model.experiments.find((each) => each.name === name)!, asOf);
  }

  /** Reads the ledger up to a position, from the last position of the last call. */
  #readLedger(upToPosition: number): void {
    const reader = new LogReader(this.#files.ledgerFolder, this.#cursor);
    try {
      reader.readRecords(upToPosition, Number.POSITIVE_INFINITY, (position, value) => {
        const record = parseLedgerRecord(value);
        assert.ok(record !== null);
        this.#model.record(record, position);
      });
      this.#cursor = reader.cursor;
    } finally {
      reader.close();
    }
  }
}

/** Returns the position of the last ledger record that a store includes. */
function readPosition(database: SqlDatabase): number {
  return database.value<number>('SELECT position FROM progress') ?? 0;
}
