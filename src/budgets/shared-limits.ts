import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { PeriodicTask } from '../domain/async.ts';
import { monthOfDay } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { encodeVerticalAndMode } from '../ids/sub-id.ts';
import {
  type GrantReply,
  type GrantRequest,
  type Quota,
  type QuotaKind,
  type QuotaStore,
  QuotaStoreUnavailableError,
  type ReportedUse,
  type StoredGrant,
} from '../quotas/quota-store.ts';
import { isForOneClick, quotaKey, ShardGrants } from '../quotas/shard-grants.ts';
import type { LedgerBookings } from './ledger-bookings.ts';
import type { LimitUse, OfferBookings } from './offer-bookings.ts';

/** Offer of a vertical and mode (`encodeVerticalAndMode`), with its bookings on this shard. */
export interface BookedOffer {
  readonly scope: number;
  readonly offerId: string;
  readonly offerBookings: OfferBookings;
}

interface SharedLimitsOptions {
  readonly shard: number;
  readonly store: QuotaStore;
  readonly bookings: LedgerBookings;
  readonly clock: Clock;
  /** Called when the store can no longer be used. Clicks then book only what the shard was granted before. */
  readonly onUnavailable: (error: unknown) => void;
  readonly onRecovered: () => void;
}

/** Offer whose figures changed on a day since the last report. */
interface ChangedOffer extends Pick<BookedOffer, 'scope' | 'offerId'> {
  readonly day: number;
}

/**
 * Daily caps and budgets of one of several shards (docs/contributing/decisions/shared-limits.md). A click books only what the store has
 * granted to the shard. The shard reports its use every second, and reads the use of the other shards, which decides which offers are shown.
 */
export class SharedLimits {
  readonly #options: SharedLimitsOptions;
  readonly #grants: ShardGrants;
  /** Times of the last requests and bookings by quota, in monotonic milliseconds, for the quotas that may have an unused rest. */
  readonly #lastUseMs = new Map<string, { readonly quota: Quota; readonly ms: number }>();
  readonly #changed = new Map<string, ChangedOffer>();
  /** Use by the other shards, by shard: by kind, then by period, then by scope and offer. */
  readonly #elsewhere = new Map<QuotaKind, Map<number, Map<string, number[]>>>();
  /** Kinds of use that the store knows, by scope, then by offer. */
  readonly #declared = new Map<number, Map<string, readonly QuotaKind[]>>();
  /** Catalog versions by scope that the store does not know yet. */
  readonly #undeclared = new Map<number, string>();
  /** Resolves when no catalog is being declared. */
  #lastDeclaration: Promise<void> = Promise.resolve();
  /** Offers for which a request did not succeed since the last retry. */
  readonly #refused = new Set<string>();
  #retry: Promise<void> | null = null;
  #endRetry = () => {};
  /** Quotas of which the store granted only what one click needs, in this turn of the event loop. */
  #forOneClick: Quota[] = [];
  #lastChange = 0;
  /** Time of the next exchange of click counts, in monotonic milliseconds. */
  #nextClickCountsMs = 0;
  #isAvailable = true;
  /** Number of failures because of a lock since the last change. */
  #busyFailures = 0;
  #isClosed = false;
  #task: PeriodicTask | null = null;
  #contendedPoll: NodeJS.Timeout | null = null;

  private constructor(options: SharedLimitsOptions, epoch: number) {
    this.#options = options;
    this.#grants = new ShardGrants(epoch, []);
  }

  /**
   * Starts a new epoch of the shard, returns the rests that it had not used before the start, and declares the use in its ledger. Throws
   * `QuotaStoreUnavailableError`.
   */
  static async start(options: SharedLimitsOptions, catalogs: readonly CompiledCatalog[]): Promise<SharedLimits> {
    const { epoch, grants } = await options.store.startEpoch(options.shard);
    const limits = new SharedLimits(options, epoch);
    await limits.#declareUse(limits.#createStartRequests(grants));
    for (const catalog of catalogs) limits.activateCatalog(catalog);
    await limits.#declareCatalogs();
    await limits.#readUseElsewhere();
    await limits.#exchangeClickCounts();
    options.bookings.setOfferChangeListener((scope, offerId, day) => {
      limits.#changed.set(`${scope} ${day} ${offerId}`, { scope, offerId, day });
    });
    limits.#task = new PeriodicTask(bounds.quotaUseReportIntervalMs, () => limits.#exchangeUse());
    limits.#contendedPoll = setInterval(
      () => limits.#tryOrWarn(() => limits.#returnContended()),
      bounds.contendedGrantPollIntervalMs,
    );
    return limits;
  }

  /** Call this method after the bookings have activated the limits of a catalog. */
  activateCatalog(catalog: CompiledCatalog): void {
    const scope = encodeVerticalAndMode(catalog.vertical.number, catalog.mode);
    this.#grants.forgetRefusals();
    this.#undeclared.set(scope, catalog.version);
    this.#refused.clear();
    for (const [kind, periods] of this.#elsewhere) {
      for (const [period, offers] of periods)
        for (const key of offers.keys()) this.#applyUseElsewhere(kind, period, key);
    }
    this.#tryOrWarn(() => this.#declareCatalogs());
  }

  /** Returns the limit that a click or its revenue would exceed, or for which the shard has no grant; otherwise null. */
  findReachedLimit(offer: BookedOffer, day: number, micros: number, clicks: number): 'cap' | 'budget' | null {
    const { offerBookings } = offer;
    if (offerBookings.listLimitUses(day) === null) return offerBookings.hasReachedCap(day) ? 'cap' : 'budget';
    const uncovered = this.#listUncovered(offer, day, micros, clicks);
    // A limit that is used up is the reason, rather than one for which the shard only has no grant.
    const reached = uncovered.find((use) => this.#cannotBook(offer, use)) ?? uncovered[0];
    if (reached === undefined) return null;
    return reached.kind === 'day_clicks' ? 'cap' : 'budget';
  }

  /**
   * Whether the shard has no grant for a click or its revenue, but may get one. Asks the store once, and then again after each
   * `waitForRetry`.
   */
  needsGrant(offer: BookedOffer, day: number, micros: number, clicks: number): boolean {
    const key = `${offer.scope} ${day} ${offer.offerId}`;
    const uncovered = this.#listUncovered(offer, day, micros, clicks);
    if (uncovered.length === 0 || uncovered.some((each) => this.#cannotBook(offer, each))) return false;
    if (this.#refused.has(key) || this.#undeclared.has(offer.scope)) return true;
    const { scope, offerId } = offer;
    const requests = uncovered.map(({ amount, ...use }) => {
      const quota: Quota = { scope, offerId, kind: use.kind, period: use.period };
      this.#markUsed(quota);
      return this.#grants.take(quota, use.used, amount, use.limit);
    });
    this.#refused.add(key);
    this.#tryOrWarn(() => this.#settle(requests));
    const missing = this.#listUncovered(offer, day, micros, clicks);
    if (missing.length === 0) this.#refused.delete(key);
    return missing.length > 0 && !missing.some((each) => this.#cannotBook(offer, each));
  }

  /** Waits for the time of the next attempt. */
  waitForRetry(): Promise<void> {
    this.#retry ??= new Promise((resolve) => {
      this.#endRetry = () => {
        clearTimeout(timer);
        this.#retry = null;
        this.#refused.clear();
        resolve();
      };
      const timer = setTimeout(this.#endRetry, bounds.grantRetryIntervalMs);
    });
    return this.#retry;
  }

  /** Reports the use, returns all unused rests, and closes the store. */
  async close(): Promise<void> {
    clearInterval(this.#contendedPoll ?? undefined);
    await this.#task?.close();
    await this.#lastDeclaration;
    this.#isClosed = true;
    const all = [...this.#lastUseMs.values()].map(({ quota }) => this.#giveBack(quota));
    await this.#tryOrWarn(() => this.#settle(all.filter((request) => request !== null)));
    await this.#options.store.close();
  }

  #listUncovered({ scope, offerId, offerBookings }: BookedOffer, day: number, micros: number, clicks: number) {
    const uses = offerBookings.listLimitUses(day) ?? [];
    return (
      uses
        // A restored click does not count towards the daily cap, also if the cap was lowered below the clicks of the day.
        .filter((use) => use.kind !== 'day_clicks' || clicks > 0)
        .map((use) => ({ ...use, amount: use.kind === 'day_clicks' ? clicks : micros }))
        .filter((use) => !this.#grants.covers({ ...use, scope, offerId }, use.used, use.amount))
    );
  }

  /** Whether the use by this shard, or by all shards, leaves no room for an amount. */
  #cannotBook({ scope, offerId }: BookedOffer, use: LimitUse & { readonly amount: number }): boolean {
    const quota = { ...use, scope, offerId };
    return use.used + use.amount > use.limit || this.#grants.isExhausted(quota, use.used, use.amount);
  }

  #markUsed(quota: Quota): void {
    this.#lastUseMs.set(quotaKey(quota), { quota, ms: this.#options.clock.monotonicMs() });
  }

  /** Creates a request that returns the unused rest of a quota, or null if the use is unknown. */
  #giveBack(quota: Quota): GrantRequest | null {
    const used = this.#findUse(quota);
    return used === null ? null : this.#grants.giveBack(quota, used);
  }

  #findUse({ scope, offerId, kind, period }: Quota): number | null {
    return this.#options.bookings.verticals.get(scope)?.findBookings(offerId)?.findUse(kind, period) ?? null;
  }

  /** Creates the requests that set the stored grants of an earlier epoch to the use in the ledger. */
  #createStartRequests(stored: readonly StoredGrant[]): GrantRequest[] {
    const requests: GrantRequest[] = [];
    const known = new Set<string>();
    for (const { quota, granted, used: storedUse } of stored) {
      const used = this.#findUse(quota);
      if (used === null) continue;
      known.add(quotaKey(quota));
      if (granted !== used || storedUse !== used) requests.push(this.#grants.giveBack(quota, used));
    }
    for (const [scope, verticalBookings] of this.#options.bookings.verticals) {
      for (const quota of this.#listUsedQuotas(scope, verticalBookings.bookings)) {
        if (!known.has(quotaKey(quota))) requests.push(this.#giveBack(quota)!);
      }
    }
    return requests;
  }

  /** Lists the quotas of the offers with limits that the shard has used, and which the store does not know from earlier calls. */
  *#listUsedQuotas(scope: number, bookings: ReadonlyMap<string, OfferBookings>): Generator<Quota> {
    const declared = getOrAdd(this.#declared, scope, () => new Map<string, readonly QuotaKind[]>());
    for (const [offerId, offerBookings] of bookings) {
      const { sharedKinds } = offerBookings;
      const before = declared.get(offerId) ?? [];
      if (sharedKinds.length === 0) declared.delete(offerId);
      else declared.set(offerId, sharedKinds);
      for (const kind of sharedKinds) {
        if (before.includes(kind)) continue;
        for (const period of offerBookings.listPeriods(kind)) yield { scope, offerId, kind, period };
      }
    }
  }

  /**
   * Declares the use of the limits in new catalogs, and returns the unused rests. A lowered limit holds once each shard has done so.
   */
  #declareCatalogs(): Promise<void> {
    // Two at the same time would store that a catalog is active before all of the use is stored.
    const declared = this.#lastDeclaration.then(() => this.#declareCatalogsNow());
    this.#lastDeclaration = declared.catch(() => {});
    return declared;
  }

  async #declareCatalogsNow(): Promise<void> {
    for (const [scope, version] of this.#undeclared) {
      const { store, shard, bookings } = this.#options;
      const declared = this.#declared.get(scope);
      const before = new Map(declared);
      const quotas = [...this.#listUsedQuotas(scope, bookings.verticals.get(scope)?.bookings ?? new Map())];
      for (const { quota } of this.#lastUseMs.values()) if (quota.scope === scope) quotas.push(quota);
      const requests = quotas.map((quota) => this.#giveBack(quota)).filter((request) => request !== null);
      try {
        await this.#declareUse(requests);
        await store.markCatalogActive(shard, this.#grants.epoch, this.#grants.activateCatalog(scope, version));
      } catch (error) {
        this.#declared.set(scope, before);
        throw error;
      }
      if (this.#undeclared.get(scope) === version) this.#undeclared.delete(scope);
    }
  }

  /** Sets the stored grants to the use. Afterwards, the shard has no rest, and needs no state of these quotas before their next click. */
  async #declareUse(requests: readonly GrantRequest[]): Promise<void> {
    await this.#settle(requests);
    for (const { quota } of requests) if (!this.#lastUseMs.has(quotaKey(quota))) this.#grants.delete(quota);
  }

  /** Applies the replies of the store to requests, in several calls if there are many. */
  async #settle(requests: readonly GrantRequest[]): Promise<void> {
    const { store, shard } = this.#options;
    for (let at = 0; at < requests.length; at += bounds.grantRequestsPerCallMax) {
      if (at > 0) await pause(bounds.grantCallPauseMs);
      const replies = store.settle(shard, this.#grants.epoch, requests.slice(at, at + bounds.grantRequestsPerCallMax));
      // The replies of a store without promises are applied in this turn of the event loop, so that a click need not wait.
      for (const reply of replies instanceof Promise ? await replies : replies) this.#applyReply(reply);
      if (replies instanceof Promise) this.#endRetry();
      this.#markAvailable();
    }
  }

  #applyReply(reply: GrantReply): void {
    this.#grants.applyReply(reply);
    if (!isForOneClick(reply)) return;
    if (this.#forOneClick.length === 0) setImmediate(() => this.#tryOrWarn(() => this.#returnRestsOfClicks()));
    this.#forOneClick.push(reply.request.quota);
  }

  /** Returns what was granted for one click, if the click was not booked, for example because it did not fit into another limit. */
  async #returnRestsOfClicks(): Promise<void> {
    const quotas = this.#forOneClick;
    this.#forOneClick = [];
    if (this.#isClosed) return;
    const unused = quotas.filter(
      (quota) => this.#grants.getGranted(quota) > (this.#findUse(quota) ?? Number.POSITIVE_INFINITY),
    );
    await this.#settle(unused.map((quota) => this.#giveBack(quota)!));
  }

  /** Reports the use since the last report, returns rests that were not used for some time, and reads the use of the other shards. */
  async #exchangeUse(): Promise<void> {
    await this.#tryOrWarn(async () => {
      await this.#declareCatalogs();
      const changed = [...this.#changed.values()];
      this.#changed.clear();
      try {
        await this.#settle([...this.#reportChanges(changed), ...this.#returnIdleRests()]);
      } catch (error) {
        for (const offer of changed) this.#changed.set(`${offer.scope} ${offer.day} ${offer.offerId}`, offer);
        throw error;
      }
      await this.#readUseElsewhere();
      if (this.#options.clock.monotonicMs() >= this.#nextClickCountsMs) await this.#exchangeClickCounts();
    });
    // The use by another shard can decrease, if the shard was killed before its last records were durable.
    this.#grants.forgetRefusals();
  }

  *#reportChanges(changed: readonly ChangedOffer[]): Generator<GrantRequest> {
    for (const { scope, offerId, day } of changed) {
      const offerBookings = this.#options.bookings.verticals.get(scope)?.findBookings(offerId);
      if (offerBookings === undefined) continue;
      for (const kind of offerBookings.sharedKinds) {
        const quota = { scope, offerId, kind, period: kind === 'month_micros' ? monthOfDay(day).number : day };
        const used = offerBookings.findUse(kind, quota.period);
        if (used === null) continue;
        this.#markUsed(quota);
        yield this.#grants.report(quota, used);
      }
    }
  }

  *#returnIdleRests(): Generator<GrantRequest> {
    const idleSinceMs = this.#options.clock.monotonicMs() - bounds.grantIdleMs;
    for (const [key, { quota, ms }] of this.#lastUseMs) {
      if (ms > idleSinceMs) continue;
      this.#lastUseMs.delete(key);
      const request = this.#giveBack(quota);
      if (request !== null) yield request;
      this.#grants.delete(quota);
    }
  }

  async #returnContended(): Promise<void> {
    const { store, shard } = this.#options;
    const listed = store.listContended(shard);
    const quotas = listed instanceof Promise ? await listed : listed;
    if (quotas.length === 0) return;
    await this.#settle(quotas.map((quota) => this.#giveBack(quota)).filter((request) => request !== null));
  }

  async #readUseElsewhere(): Promise<void> {
    const { store, shard } = this.#options;
    const { lastChange, uses } = await store.readUse(this.#lastChange);
    this.#lastChange = lastChange;
    for (const use of uses) if (use.shard !== shard) this.#setUseElsewhere(use);
  }

  /** Writes the click counts for even pacing, and reads those of the other shards. */
  async #exchangeClickCounts(): Promise<void> {
    const { store, shard, bookings, clock } = this.#options;
    for (const [scope, { clickDistribution }] of bookings.verticals)
      await store.writeClickCounts(shard, this.#grants.epoch, scope, clickDistribution.listDays());
    const elsewhere = (await store.readClickCounts()).filter((stored) => stored.shard !== shard);
    for (const [scope, { clickDistribution }] of bookings.verticals) {
      const counts = elsewhere.flatMap((stored) => (stored.scope === scope ? stored.days : []));
      clickDistribution.setClickCountsElsewhere(counts);
    }
    this.#nextClickCountsMs = clock.monotonicMs() + bounds.clickCountExchangeIntervalMs;
  }

  #setUseElsewhere({ quota: { scope, offerId, kind, period }, shard, used }: ReportedUse): void {
    const periods = getOrAdd(this.#elsewhere, kind, () => new Map<number, Map<string, number[]>>());
    const key = `${scope} ${offerId}`;
    getOrAdd(
      getOrAdd(periods, period, () => new Map<string, number[]>()),
      key,
      () => [],
    )[shard] = used;
    if (periods.size > bounds.quotaPeriodsStoredMax) periods.delete(Math.min(...periods.keys()));
    this.#applyUseElsewhere(kind, period, key);
  }

  #applyUseElsewhere(kind: QuotaKind, period: number, key: string): void {
    const byShard = this.#elsewhere.get(kind)?.get(period)?.get(key) ?? [];
    const at = key.indexOf(' ');
    const verticalBookings = this.#options.bookings.verticals.get(Number(key.slice(0, at)));
    const offerBookings = verticalBookings?.findBookings(key.slice(at + 1));
    if (offerBookings === undefined) return;
    let sum = 0;
    for (const used of byShard) sum += used ?? 0;
    offerBookings.setUseElsewhere(kind, period, sum);
    verticalBookings!.availability?.markBookingsChanged(offerBookings.catalogIndex);
  }

  /**
   * Runs an access to the store. Reports only the first failure until the next change succeeds, and a locked store only after several
   * failures, because shards lock the store for each other.
   */
  async #tryOrWarn(access: () => Promise<void>): Promise<void> {
    try {
      await access();
    } catch (error) {
      if (!(error instanceof QuotaStoreUnavailableError)) throw error;
      if (error.isBusy && ++this.#busyFailures < bounds.quotaStoreBusyFailuresMax) return;
      if (this.#isAvailable) this.#options.onUnavailable(error);
      this.#isAvailable = false;
    }
  }

  #markAvailable(): void {
    if (!this.#isAvailable) this.#options.onRecovered();
    this.#isAvailable = true;
    this.#busyFailures = 0;
  }
}
