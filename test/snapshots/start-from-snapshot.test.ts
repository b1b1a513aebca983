import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { chance, type Random, seededRandom, wholeNumber } from '../../bench/population/random.ts';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import type { LedgerBookings, StoredFigures } from '../../src/budgets/ledger-bookings.ts';
import { resolveSettings } from '../../src/config/service-settings.ts';
import { PartnerApi } from '../../src/embedded/partner-api.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { sessionPieceFolder } from '../../src/journal/session-pieces.ts';
import { parseClickUrl } from '../../src/operations/click-url.ts';
import type { Service, ServiceOptions } from '../../src/server/service.ts';
import { startService } from '../../src/server/start-service.ts';
import { snapshotContentPath } from '../../src/snapshots/snapshot-files.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ChangeableCatalogs, withDailyCap } from '../support/changeable-catalogs.ts';
import { widgetEventsRecord, widgetViewedRecord } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const { vertical } = fixture;
const account = 'history';

/** What a visitor has done, to compare the state after two starts. */
interface History {
  readonly subs: Buffer[];
  readonly idempotencyKeys: Map<string, { readonly referrer_tag: string }>;
  readonly offerIds: Set<string>;
}

class RandomHistory {
  readonly clock = new ManualClock();
  readonly history: History = { subs: [], idempotencyKeys: new Map(), offerIds: new Set() };
  readonly catalogs = new ChangeableCatalogs(fixture);
  readonly #random: Random;
  #service!: Service;
  #partner!: PartnerApi;
  #keyNumber = 0;
  #key = '';
  #widgetEvents = 0;

  constructor(random: Random) {
    this.#random = random;
    this.catalogs.writeCatalog(withDailyCap(this.catalogs.initialCatalog, 3));
  }

  get service(): Service {
    return this.#service;
  }

  /** Starts a service. Returns the warnings of the start. */
  async open(t: TestContext, dataDir: string): Promise<readonly string[]> {
    const { service, warnings } = await this.start(t, dataDir);
    this.#service = service;
    if (this.#key === '') {
      const key = { accountName: account, vertical, mode: 'live', scope: 'full', expiresAtMs: null } as const;
      const limits = { requestsPerMinute: 100_000, analyticsPerMinute: null, sessionsPerDay: null };
      this.#key = service.keys.create(
        { ...key, limits },
        this.clock.wallMs(),
        service.audit.recorderOf(serviceActor),
      ).key;
    }
    this.#keyNumber = 1;
    this.#partner = new PartnerApi(service, vertical, this.#key);
    return warnings;
  }

  async start(t: TestContext, dataDir: string, settings: Partial<ServiceOptions> = {}) {
    const warnings: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line).msg) });
    const service = await startService({
      ...resolveSettings({ dataDir, durability: 'write', matcherThreads: 0, urls: { click: 'https://go.example' } }),
      shard: null,
      registry: builtInVerticals,
      catalogs: this.catalogs.sources,
      clock: this.clock,
      logger,
      ...settings,
    });
    runAfterTest(t, () => service.close());
    return { service, warnings };
  }

  /** Runs one random event. */
  async runEvent(): Promise<void> {
    const random = this.#random;
    const draw = random();
    if (draw < 0.25) await this.#createSession();
    else if (draw < 0.55) await this.#submitInputs();
    else if (draw < 0.75) await this.#viewAndClick();
    else if (draw < 0.85) this.#reportWidgetEvents();
    else if (draw < 0.99) this.clock.advance(wholeNumber(random, 1, 6 * 60_000));
    else this.clock.advance(wholeNumber(random, 1, 2 * 60 * 60_000));
    if (chance(random, 0.3)) await nextTurn();
  }

  async #createSession(): Promise<void> {
    const random = this.#random;
    const body = { referrer_tag: `tag-${wholeNumber(random, 1, 3)}` };
    const idempotencyKey = `key-${wholeNumber(random, 1, 1_000_000)}`;
    const options = chance(random, 0.5) ? { idempotencyKey } : {};
    const { sub_id } = ok(await this.#partner.createSession(body, options));
    this.history.subs.push(Buffer.from(sub_id.slice(4), 'hex'));
    if ('idempotencyKey' in options) this.history.idempotencyKeys.set(idempotencyKey, body);
  }

  #pickSub(): Buffer | undefined {
    const { subs } = this.history;
    // Mostly new sessions, as in practice.
    const first = chance(this.#random, 0.4) ? Math.max(0, subs.length - 8) : 0;
    return subs.length === 0 ? undefined : subs[wholeNumber(this.#random, first, subs.length - 1)];
  }

  async #submitInputs(): Promise<void> {
    const sub = this.#pickSub();
    if (sub === undefined) return;
    const income = { annual_income: wholeNumber(this.#random, 10_000, 200_000) };
    const fields = chance(this.#random, 0.8) ? { ...fixture.complete, ...income } : income;
    await this.#partner.submitInputs({ sub_id: `sub_${sub.toString('hex')}`, fields });
  }

  async #viewAndClick(): Promise<void> {
    const sub = this.#pickSub();
    if (sub === undefined) return;
    const view = await this.#partner.getMarketplace({ sub_id: `sub_${sub.toString('hex')}`, max_offers: 4 });
    if (!view.ok) return;
    for (const { svc_offer_id: id, click_url: url } of view.value.offers) {
      this.history.offerIds.add(id);
      if (chance(this.#random, 0.4)) await this.#service.followClick(parseClickUrl(url, {}));
    }
  }

  /** Creates a session with all fields, and returns its sub_id. */
  async createSessionWithFields(): Promise<string> {
    const { sub_id } = ok(await this.#partner.createSession({ referrer_tag: 'tag-1' }, {}));
    this.history.subs.push(Buffer.from(sub_id.slice(4), 'hex'));
    ok(await this.#partner.submitInputs({ sub_id, fields: fixture.complete }));
    return sub_id;
  }

  async setIncome(sub_id: string, annual_income: number): Promise<void> {
    ok(await this.#partner.submitInputs({ sub_id, fields: { annual_income } }));
  }

  /** Creates a session with all fields, and returns the click URLs of its offers. */
  async showOffers(): Promise<string[]> {
    const sub_id = await this.createSessionWithFields();
    const { offers } = ok(await this.#partner.getMarketplace({ sub_id }));
    return offers.map(({ click_url: url }) => url);
  }

  /** Clicks each offer until its clicks are not recorded any more. Returns the number of recorded clicks. */
  async countRecordedClicks(urls: readonly string[]): Promise<number> {
    const { ledger } = this.#service.operationDeps;
    const start = ledger.lastAppendedPosition;
    for (const url of urls) {
      for (let before = -1; before < ledger.lastAppendedPosition; ) {
        before = ledger.lastAppendedPosition;
        await this.#service.followClick(parseClickUrl(url, {}));
      }
    }
    return ledger.lastAppendedPosition - start;
  }

  #reportWidgetEvents(): void {
    const sub = this.#pickSub();
    if (sub === undefined) return;
    const { sessions, ledger } = this.#service.operationDeps;
    const usage = sessions.get(`sub_${sub.toString('hex')}`)?.widgetUsage;
    if (usage === undefined) return;
    const wallMs = this.clock.wallMs();
    const events = { firstEvent: ++this.#widgetEvents, wallMs };
    const report = widgetEventsRecord(sub, ['widget_loaded'], events);
    assert.ok(usage.tryRememberEvent(report[4]));
    ledger.append(report);
    const view = widgetViewedRecord(sub, [], { load: this.#widgetEvents, wallMs });
    ledger.append(view);
    usage.markViewCounted(view[5]!);
  }

  /** Returns the state of a service that depends on the history. */
  describe({ operationDeps, authenticator }: Service): unknown {
    const { subs, idempotencyKeys, offerIds } = this.history;
    const bookings = operationDeps.availability as LedgerBookings;
    return {
      size: operationDeps.sessions.size,
      sessions: subs.map((sub) => {
        const session = operationDeps.sessions.get(`sub_${sub.toString('hex')}`);
        if (session === undefined) return null;
        const { events, loads } = session.widgetUsage.digests;
        return [session.tenant.account, session.pocketFields, events, loads];
      }),
      keys: [...idempotencyKeys].map(([key, body]) => {
        const scoped = `1 ${vertical.number} live ${key}`;
        const found = operationDeps.idempotencyKeys.lookUpRequest(scoped, JSON.stringify(requestOf(body)));
        return [key, found.kind, found.kind === 'repeat' && Buffer.from(found.first.sub).toString('hex')];
      }),
      sessionsToday: authenticator.getKeyUsage({ number: this.#keyNumber, limits: noLimits }).used.sessionsPerDay,
      figures: listFigures(bookings),
      pairs: subs.map((sub) =>
        [...offerIds].map((id) => {
          const { randomId } = bookings.findBySession(sub)!.findBookings(id)!;
          return [bookings.pairs.getPairState(sub, randomId), bookings.pairs.getFirstShownMs(sub, randomId)];
        }),
      ),
    };
  }
}

const noLimits = { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null };

/** The request from which POST /session computes the digest of an Idempotency-Key's payload. */
const requestOf = ({ referrer_tag: referrerTag }: { readonly referrer_tag: string }) => ({
  referrerTag,
  userAgent: undefined,
  metadata: null,
  unitId: undefined,
});

function listFigures(bookings: LedgerBookings): unknown {
  const pieces = [...bookings.capture({ lastAppendedPosition: 0 }, 0)];
  const text = Buffer.concat([...pieces.at(-1)!.chunks()]).toString();
  const lines: StoredFigures[] = text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line));
  const figures = lines.flatMap(([key, , list, counts = []]) => [
    ...list.filter(([, [days]]) => days.length > 0).map(([id, [...stored]]) => [key, id, ...stored.slice(0, 4)]),
    ...counts.map((count) => [key, count]),
  ]);
  return figures.map((figure) => JSON.stringify(figure)).sort();
}

/** Starts two services on copies of a folder, one of them without the snapshot, and compares their states. */
async function compareStarts(
  t: TestContext,
  histories: RandomHistory,
  folder: string,
  settings: Partial<ServiceOptions> = {},
): Promise<void> {
  const other = join(temporaryFolder(t), 'data');
  cpSync(folder, other, { recursive: true });
  const { snapshotFolder, journalFolder } = dataPaths(other);
  const hasSnapshot = existsSync(snapshotContentPath(dataPaths(folder).snapshotFolder));
  for (const each of [snapshotFolder, sessionPieceFolder(journalFolder)]) rmSync(each, { recursive: true });
  const fromSnapshot = await histories.start(t, folder, settings);
  const fromLogs = await histories.start(t, other, settings);
  if (hasSnapshot)
    assert.deepEqual(
      fromSnapshot.warnings.filter((text) => text.includes('snapshot')),
      [],
    );
  assert.deepEqual(histories.describe(fromSnapshot.service), histories.describe(fromLogs.service));
  await fromSnapshot.service.close();
  await fromLogs.service.close();
}

for (let seed = 1; seed <= 4; seed++) {
  test(`a start from a snapshot has the same state as a start from the logs alone, at any time (history ${seed})`, async (t) => {
    const random = seededRandom(seed);
    const histories = new RandomHistory(random);
    const dataDir = join(temporaryFolder(t), 'data');
    await histories.open(t, dataDir);
    const images: { readonly folder: string; readonly nowMs: number }[] = [];
    let saving = Promise.resolve();
    for (let event = 0; event < 240; event++) {
      await histories.runEvent();
      if (chance(random, 0.1)) saving = histories.service.saveSnapshot();
      if (chance(random, 0.03)) {
        const folder = join(temporaryFolder(t), 'data');
        cpSync(dataDir, folder, { recursive: true });
        images.push({ folder, nowMs: histories.clock.wallMs() });
        await compareStarts(t, histories, folder);
      }
      if (chance(random, 0.01)) {
        await histories.service.close();
        assert.deepEqual(
          (await histories.open(t, dataDir)).filter((text) => text.includes('snapshot')),
          [],
        );
      }
    }
    await saving;
    assert.ok(images.length > 3);
    await histories.service.close();
    await compareStarts(t, histories, dataDir);
  });
}

test('counts the recorded clicks of a session from the ledger if their part of the snapshot is damaged', async (t) => {
  const histories = new RandomHistory(seededRandom(5));
  const dataDir = join(temporaryFolder(t), 'data');
  await histories.open(t, dataDir);
  const urls = await histories.showOffers();
  const recorded = await histories.countRecordedClicks(urls);
  assert.ok(recorded > 0);
  await histories.service.close();
  const { snapshotFolder } = dataPaths(dataDir);
  const file = readdirSync(snapshotFolder).find((name) => name.startsWith('clicks.'))!;
  truncateSync(join(snapshotFolder, file), 100);
  const warnings = await histories.open(t, dataDir);
  assert.ok(warnings.includes('part of the snapshot cannot be used; reading the logs'));
  assert.equal(await histories.countRecordedClicks(urls), bounds.clicksRecordedPerSessionMax - recorded);
});

const quarterMs = 15 * 60_000;

test('a start from a snapshot applies the inputs that came while the snapshot was written', async (t) => {
  const histories = new RandomHistory(seededRandom(6));
  const dataDir = join(temporaryFolder(t), 'data');
  await histories.open(t, dataDir);
  const first = await histories.createSessionWithFields();
  // The sessions of each quarter of an hour are a piece, and the piece of the first session is written first.
  for (let quarter = 0; quarter < 12; quarter++) {
    histories.clock.advance(quarterMs);
    await histories.createSessionWithFields();
  }
  const { journalFolder } = dataPaths(dataDir);
  const listPieces = () => readdirSync(sessionPieceFolder(journalFolder));
  let isSaved = false;
  const saving = histories.service.saveSnapshot().then(() => {
    isSaved = true;
  });
  // The piece of the first session is complete when the next one exists.
  while (listPieces().length < 3 && !isSaved) await nextTurn();
  await histories.setIncome(first, 34_567);
  await saving;
  assert.ok(listPieces().length > 10);
  const image = join(temporaryFolder(t), 'data');
  cpSync(dataDir, image, { recursive: true });
  await compareStarts(t, histories, image);
});

for (const [reason, change] of [
  ['the lifetime is longer', () => ({ sessionTtlMs: 2 * bounds.sessionTtlMs })],
  [
    'the clock was set back',
    ({ clock }: RandomHistory) => {
      clock.setWall(clock.wallMs() - 2 * quarterMs);
      return {};
    },
  ],
] as const) {
  test(`a start from a snapshot finds deleted sessions that are live again, because ${reason}`, async (t) => {
    const histories = new RandomHistory(seededRandom(7));
    const dataDir = join(temporaryFolder(t), 'data');
    await histories.open(t, dataDir);
    const sub = await histories.createSessionWithFields();
    histories.clock.advance(bounds.sessionTtlMs + quarterMs);
    const { sessions } = histories.service.operationDeps;
    sessions.deleteExpiredSessions();
    assert.equal(sessions.get(sub), undefined);
    await histories.createSessionWithFields();
    await histories.service.close();
    const settings = change(histories);
    await compareStarts(t, histories, dataDir, settings);
    const { service } = await histories.start(t, dataDir, settings);
    assert.equal(service.operationDeps.sessions.get(sub)?.createdMs, new ManualClock().wallMs());
  });
}
