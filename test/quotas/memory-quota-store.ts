import { bounds } from '../../src/bounds.ts';
import {
  type CatalogActivation,
  type ClickCountsOfDay,
  type GrantReply,
  type GrantRequest,
  type Quota,
  type QuotaStore,
  QuotaStoreUnavailableError,
  type ReportedUse,
  type StoredClickCounts,
  type StoredGrant,
} from '../../src/quotas/quota-store.ts';
import { settleGrant } from '../../src/quotas/settle-grant.ts';
import { quotaKey } from '../../src/quotas/shard-grants.ts';

export interface MemoryGrant {
  readonly shard: number;
  granted: number;
  used: number;
  request: number;
  isContended: boolean;
  change: number;
}

interface QuotaRows {
  readonly quota: Quota;
  readonly grants: MemoryGrant[];
}

/** Faults that a mutant of the store has. Each is false in a correct store. */
export interface StoreFaults {
  readonly ignoresEpochs?: boolean;
  readonly ignoresRequestNumbers?: boolean;
  /** Treats a shard that has not declared its use as one that has used nothing. */
  readonly trustsUndeclared?: boolean;
  /** Grants parts of what is left before all shards have activated the same catalog. */
  readonly grantsBlocksAlways?: boolean;
  /** Applies the lowest limit that a shard has activated to all shards. */
  readonly lowersLimitEarly?: boolean;
  /** Refuses for good while other shards have an unused rest. */
  readonly refusesEarly?: boolean;
}

/** Store in memory, which the simulation and the tests of the contract use. */
export class MemoryQuotaStore implements QuotaStore {
  isBlocked = false;
  readonly rows = new Map<string, QuotaRows>();
  readonly #shards: number;
  readonly #faults: StoreFaults;
  readonly #epochs: number[] = [];
  /** Last activation of each shard by scope. */
  readonly #catalogs = new Map<number, (CatalogActivation | undefined)[]>();
  readonly #clickCounts = new Map<string, StoredClickCounts>();
  #lastChange = 0;

  constructor(shards: number, faults: StoreFaults = {}) {
    this.#shards = shards;
    this.#faults = faults;
  }

  startEpoch(shard: number): { readonly epoch: number; readonly grants: readonly StoredGrant[] } {
    this.#assertUsable();
    this.#epochs[shard] = (this.#epochs[shard] ?? 0) + 1;
    for (const active of this.#catalogs.values()) if (active[shard]) active[shard] = { ...active[shard], number: 0 };
    const grants: StoredGrant[] = [];
    for (const { quota, grants: rows } of this.rows.values()) {
      const own = rows.find((row) => row.shard === shard);
      if (own === undefined) continue;
      Object.assign(own, { request: 0, isContended: false });
      grants.push({ quota, granted: own.granted, used: own.used });
    }
    return { epoch: this.#epochs[shard]!, grants };
  }

  settle(shard: number, epoch: number, requests: readonly GrantRequest[]): readonly GrantReply[] {
    this.#assertUsable();
    if (epoch !== this.#epochs[shard] && this.#faults.ignoresEpochs !== true)
      return requests.map((request) => ({ request, outcome: 'outdated', granted: request.granted }));
    return requests.map((request) => this.#settleRequest(shard, request));
  }

  markCatalogActive(shard: number, epoch: number, activation: CatalogActivation): void {
    this.#assertUsable();
    if (epoch !== this.#epochs[shard]) return;
    const active = this.#catalogs.get(activation.scope) ?? [];
    if (activation.number > (active[shard]?.number ?? 0)) active[shard] = activation;
    this.#catalogs.set(activation.scope, active);
  }

  findCatalogVersion(shard: number, scope: number): string | undefined {
    return this.#catalogs.get(scope)?.[shard]?.version;
  }

  listContended(shard: number): readonly Quota[] {
    this.#assertUsable();
    const contended: Quota[] = [];
    for (const { quota, grants } of this.rows.values())
      if (grants.some((row) => row.shard === shard && row.isContended)) contended.push(quota);
    return contended;
  }

  readUse(since: number): { readonly lastChange: number; readonly uses: readonly ReportedUse[] } {
    this.#assertUsable();
    const changed = [...this.rows.values()].flatMap(({ quota, grants }) =>
      grants.filter(({ change }) => change > since).map(({ shard, used, change }) => ({ quota, shard, used, change })),
    );
    changed.sort((one, other) => one.change - other.change);
    return { lastChange: this.#lastChange, uses: changed.map(({ quota, shard, used }) => ({ quota, shard, used })) };
  }

  writeClickCounts(shard: number, epoch: number, scope: number, days: readonly ClickCountsOfDay[]): void {
    this.#assertUsable();
    if (epoch === this.#epochs[shard]) this.#clickCounts.set(`${scope} ${shard}`, { scope, shard, days });
  }

  readClickCounts(): readonly StoredClickCounts[] {
    return [...this.#clickCounts.values()];
  }

  close(): void {
    this.isBlocked = true;
  }

  #settleRequest(shard: number, request: GrantRequest): GrantReply {
    const key = quotaKey(request.quota);
    const stored = this.rows.get(key);
    if (stored === undefined && this.#isForgotten(request.quota)) return { request, outcome: 'contended', granted: 0 };
    const { grants } = stored ?? this.#addQuota(key, request.quota);
    let own = grants.find((row) => row.shard === shard);
    if (own !== undefined && request.number <= own.request && this.#faults.ignoresRequestNumbers !== true)
      return { request, outcome: 'outdated', granted: own.granted };
    const others = grants.filter((row) => row.shard !== shard);
    const versions = (this.#catalogs.get(request.quota.scope) ?? []).flatMap((active) => active?.version ?? []);
    const state = {
      count: this.#shards,
      allActive: versions.length === this.#shards || this.#faults.trustsUndeclared === true,
      sameCatalog: new Set(versions).size === 1 || this.#faults.grantsBlocksAlways === true,
    };
    const limit = this.#faults.lowersLimitEarly === true ? Math.min(...versions.map(Number.parseFloat)) : request.limit;
    const { granted, outcome } = settleGrant({ ...request, limit }, others, state);
    if (own === undefined) {
      own = { shard, granted, used: request.used, request: 0, isContended: false, change: ++this.#lastChange };
      grants.push(own);
    } else if (own.used !== request.used) own.change = ++this.#lastChange;
    own.granted = granted;
    own.used = request.used;
    own.request = request.number;
    if (granted <= own.used) own.isContended = false;
    if (outcome === 'contended') for (const row of others) if (row.granted > row.used) row.isContended = true;
    return { request, outcome: outcome === 'contended' && this.#faults.refusesEarly ? 'exhausted' : outcome, granted };
  }

  #addQuota(key: string, quota: Quota): QuotaRows {
    const added: QuotaRows = { quota, grants: [] };
    this.rows.set(key, added);
    const oldest = this.#findOldestPeriod(quota);
    if (oldest === null) return added;
    for (const [other, { quota: each }] of this.rows)
      if (each.kind === quota.kind && each.period < oldest) this.rows.delete(other);
    return added;
  }

  #isForgotten(quota: Quota): boolean {
    return this.rows.size > 0 && quota.period < (this.#findOldestPeriod(quota) ?? Number.NEGATIVE_INFINITY);
  }

  #findOldestPeriod({ kind }: Quota): number | null {
    if (this.rows.size < bounds.quotaPeriodsStoredMax) return null;
    const periods = new Set<number>();
    for (const { quota } of this.rows.values()) if (quota.kind === kind) periods.add(quota.period);
    return [...periods].sort((one, other) => other - one)[bounds.quotaPeriodsStoredMax - 1] ?? null;
  }

  #assertUsable(): void {
    if (this.isBlocked) throw new QuotaStoreUnavailableError('blocked');
  }
}
