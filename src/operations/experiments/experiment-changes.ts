import { LRUCache } from 'lru-cache';
import type { Analytics } from '../../analytics/analytics.ts';
import { AnalyticsUnavailableError } from '../../analytics/analytics.ts';
import type { AuditAction } from '../../audit/audit-actions.ts';
import type { AuditDetails } from '../../audit/audit-log.ts';
import type { AuditTrail } from '../../audit/audit-trail.ts';
import { recordFailure } from '../../audit/run-recorded.ts';
import type { Caller } from '../../auth/key-usage.ts';
import { KeyedRateLimit } from '../../auth/keyed-rate-limit.ts';
import { createLimitRejection, experimentChangePolicy } from '../../auth/rate-limits.ts';
import { bounds } from '../../bounds.ts';
import { type CancelSignal, SerialQueue } from '../../domain/async.ts';
import type { Clock } from '../../domain/clock.ts';
import { failureOutcomeWithCode, type Outcome, serviceUnavailable, successOutcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { ExperimentDefinition } from '../../experiments/experiment.ts';
import type { SubIds } from '../../ids/sub-id.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ExperimentRecord } from '../../ledger/ledger-record.ts';
import type { ApiRequest } from '../api-operation.ts';
import { awaitDurableRecord } from '../await-durable.ts';
import { refuseIfUnavailable } from '../query-analytics.ts';
import type { FindKeyId } from './experiment-view.ts';

/** Components of every operation that returns an experiment. */
export interface ExperimentDeps {
  readonly clock: Clock;
  readonly analytics: Pick<Analytics, 'findExperiment'>;
  readonly findKeyId: FindKeyId;
}

export interface ChangeExperimentDeps extends ExperimentDeps {
  readonly subIds: SubIds;
  readonly ledger: Ledger;
  readonly experimentChanges: ExperimentChanges;
  readonly audit: Pick<AuditTrail, 'recorderOf' | 'recordOrWait'>;
  /** Returns the name of an account, or null if it cannot be read. */
  readonly findAccountName: (account: number) => string | null;
}

/** Returns the key of a tenant in queries of the analytics. */
export function toAnalyticsTenant({ account, vertical, mode }: Tenant) {
  return { account, vertical: vertical.number, mode };
}

/**
 * Serializes the changes of experiments, so that a change reads all earlier changes before its own record is appended. Caches definitions, so
 * that the assignment of an arm needs no query for each page view; a change deletes its experiment from the cache. Limits the changes of each
 * tenant per minute.
 */
export class ExperimentChanges {
  readonly #queue = new SerialQueue(bounds.experimentChangesQueuedMax);
  readonly #limit = new KeyedRateLimit(bounds.experimentChangesPerMinute, bounds.experimentChangesTenantsMax);
  readonly #onLimited: () => void;
  readonly #definitions = new LRUCache<string, ExperimentDefinition>({ max: bounds.assignedExperimentsCachedMax });
  #recordCount = 0;

  /** @param onLimited called for each change that the limit of changes rejects */
  constructor(onLimited: () => void = () => {}) {
    this.#onLimited = onLimited;
  }

  /**
   * Runs a change after all earlier changes. Returns SERVICE_UNAVAILABLE if the queue is full, the request has ended, or the ledger or the
   * analytics are unavailable.
   */
  async runChange<Result>(
    ledger: Pick<Ledger, 'healthy'>,
    signal: CancelSignal | null,
    change: () => Promise<Outcome<Result>>,
  ): Promise<Outcome<Result>> {
    const unavailable = serviceUnavailable(bounds.retryAfterSeconds);
    try {
      // While the ledger is unhealthy, the analytics may not include a change that was appended but is not durable.
      const outcome = await this.#queue.run(async () => (ledger.healthy ? change() : unavailable), signal);
      return outcome ?? unavailable;
    } catch (error) {
      if (error instanceof AnalyticsUnavailableError) return unavailable;
      throw error;
    }
  }

  /**
   * Appends a record of a change, and waits until it is durable. Returns RATE_LIMIT_EXCEEDED if the tenant made too many changes in the last
   * minute; requests that change nothing do not count. The audit log gets an entry before. If the audit log cannot be written, the
   * entry waits, because the record in the ledger also says who made the change.
   */
  async appendRecord(
    { clock, ledger, audit, findAccountName, findKeyId }: ChangeExperimentDeps,
    { caller, actorKind }: ApiRequest,
    record: ExperimentRecord,
    { action, details }: { readonly action: AuditAction; readonly details?: AuditDetails },
  ): Promise<Outcome<null>> {
    const waitMs = this.#limit.countRequest(tenantKey(caller), clock.monotonicMs());
    if (waitMs > 0) {
      this.#onLimited();
      return createLimitRejection(experimentChangePolicy, waitMs, clock.wallMs());
    }
    const actor = { kind: actorKind, name: findKeyId(caller.keyNumber) };
    const { account, vertical, mode } = caller;
    const tenant = { account: findAccountName(account), vertical: vertical.segment, mode };
    const entry = audit.recordOrWait(actor, [action, record[3], { ...tenant, ...details }]);
    const explain = (outcome: 'failed' | 'unknown') => {
      if (entry !== null) recordFailure(audit.recorderOf(actor), entry, outcome);
    };
    const appended = ledger.append(record);
    if (appended === null) {
      explain('failed');
      return serviceUnavailable(bounds.retryAfterSeconds);
    }
    this.#recordCount++;
    this.#definitions.delete(cacheKey(caller, record[3]));
    const written = await awaitDurableRecord(ledger, appended);
    if (!written.ok) explain('unknown');
    return written;
  }

  /** Returns the definition of an experiment from the cache, or queries it; null if there is no such experiment. */
  async findDefinition(
    analytics: ExperimentDeps['analytics'],
    tenant: Tenant,
    name: string,
    signal: CancelSignal | null,
  ): Promise<ExperimentDefinition | null> {
    const key = cacheKey(tenant, name);
    const cached = this.#definitions.get(key);
    if (cached !== undefined) return cached;
    const recordCount = this.#recordCount;
    const experiment = await analytics.findExperiment({ ...toAnalyticsTenant(tenant), name }, signal);
    if (experiment === null) return null;
    // A change during the query may be missing in its result.
    if (recordCount === this.#recordCount) this.#definitions.set(key, experiment.definition);
    return experiment.definition;
  }
}

function cacheKey(tenant: Tenant, name: string): string {
  return `${tenantKey(tenant)} ${name}`;
}

function tenantKey({ account, vertical, mode }: Tenant): string {
  return `${account} ${vertical.number} ${mode}`;
}

/** Returns the first items of a record that `caller` appends. The record's `sub` identifies no session, but contains the tenant. */
export function describeChange(subIds: SubIds, caller: Caller, name: string, nowMs: number) {
  const { account, vertical, mode, keyNumber } = caller;
  const sub = subIds.toBytes(subIds.createSubId(nowMs, account, vertical.number, mode));
  return [nowMs, sub, name, keyNumber] as const;
}

/** Runs a query about one experiment. Returns NOT_FOUND if the result is null, and SERVICE_UNAVAILABLE while the analytics are unavailable. */
export async function queryExperiment<Result>(query: () => Promise<Result | null>): Promise<Outcome<Result>> {
  const found = await refuseIfUnavailable(query);
  if (!found.ok) return found;
  return found.value === null ? experimentNotFound() : successOutcome(found.value);
}

/** Error of an unknown experiment, which is the same as for an unknown path. */
export function experimentNotFound() {
  return failureOutcomeWithCode('NOT_FOUND');
}
