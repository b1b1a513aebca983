import {
  type CatalogActivation,
  type GrantReply,
  type GrantRequest,
  type Quota,
  quotaKinds,
  type StoredGrant,
} from './quota-store.ts';

/** Returns a text that identifies a quota. */
export function quotaKey({ scope, offerId, kind, period }: Quota): string {
  return `${scope} ${quotaKinds.indexOf(kind)} ${period} ${offerId}`;
}

/** Whether the store granted only what one click needs, so that the shard must return what this click does not use. */
export function isForOneClick({ request, outcome, granted }: GrantReply): boolean {
  return outcome === 'granted' && granted === request.granted + request.need;
}

interface Grant {
  readonly quota: Quota;
  /** Amount that the shard may book. Never more than in the store. */
  granted: number;
  /** Number of the last request; 0 before the first request. Replies to earlier requests are ignored. */
  lastRequest: number;
  /** The store refused a booking up to this amount; infinity if it refused none. */
  refusedFrom: number;
}

/**
 * Grants of one shard in one epoch: a state machine without I/O. A request lowers `granted` before it is sent, and only the reply to the
 * last request of a quota raises `granted`. So a lost or late message never makes the shard book more than the store has granted.
 *
 * The shard counts its use from its own ledger, and passes it as `used`.
 */
export class ShardGrants {
  readonly epoch: number;
  readonly #grants = new Map<string, Grant>();
  #lastRequest = 0;
  /** Refusals of requests up to this number are ignored. */
  #forgottenRequest = 0;

  /** @param stored result of `QuotaStore.startEpoch` */
  constructor(epoch: number, stored: readonly StoredGrant[]) {
    this.epoch = epoch;
    for (const { quota, granted } of stored) this.#findOrAdd(quota).granted = granted;
  }

  /** Whether the shard may book `amount` now. */
  covers(quota: Quota, used: number, amount: number): boolean {
    return used + amount <= this.getGranted(quota);
  }

  /** Whether the store has found that the limit has no room for `amount`. */
  isExhausted(quota: Quota, used: number, amount: number): boolean {
    return used + amount >= (this.#grants.get(quotaKey(quota))?.refusedFrom ?? Number.POSITIVE_INFINITY);
  }

  getGranted(quota: Quota): number {
    return this.#grants.get(quotaKey(quota))?.granted ?? 0;
  }

  /** Creates a request that reports the use, and keeps the grant. */
  report(quota: Quota, used: number): GrantRequest {
    return this.#createRequest(quota, used, this.getGranted(quota), 0, 0);
  }

  /** Creates a request that returns the unused rest. The shard can no longer use the rest, even if the request is lost. */
  giveBack(quota: Quota, used: number): GrantRequest {
    return this.#createRequest(quota, used, used, 0, 0);
  }

  /** Creates a request for more, so that the shard can book `amount`. */
  take(quota: Quota, used: number, amount: number, limit: number): GrantRequest {
    const granted = Math.max(used, this.getGranted(quota));
    return this.#createRequest(quota, used, granted, Math.max(0, used + amount - granted), limit);
  }

  /** Creates the message that a catalog is active. */
  activateCatalog(scope: number, version: string): CatalogActivation {
    return { scope, version, number: ++this.#lastRequest };
  }

  /** Applies a reply of the store. Ignores the reply if a later request of the quota was created. */
  applyReply({ request, outcome, granted }: GrantReply): void {
    const grant = this.#findOrAdd(request.quota);
    if (request.number !== grant.lastRequest || outcome === 'outdated') return;
    grant.granted = granted;
    if (outcome === 'exhausted' && request.number > this.#forgottenRequest)
      grant.refusedFrom = request.granted + request.need;
  }

  /** Forgets which amounts the store refused, also in replies that are still on their way, for example because a limit may be higher. */
  forgetRefusals(): void {
    this.#forgottenRequest = this.#lastRequest;
    for (const grant of this.#grants.values()) grant.refusedFrom = Number.POSITIVE_INFINITY;
  }

  /** Deletes the state of a quota without an unused rest. Replies to its requests are ignored. */
  delete(quota: Quota): void {
    this.#grants.delete(quotaKey(quota));
  }

  #createRequest(quota: Quota, used: number, granted: number, need: number, limit: number): GrantRequest {
    const grant = this.#findOrAdd(quota);
    grant.granted = Math.max(used, granted);
    grant.lastRequest = ++this.#lastRequest;
    return { quota, number: grant.lastRequest, granted: grant.granted, used, need, limit };
  }

  #findOrAdd(quota: Quota): Grant {
    const key = quotaKey(quota);
    let grant = this.#grants.get(key);
    if (grant === undefined) {
      grant = { quota, granted: 0, lastRequest: 0, refusedFrom: Number.POSITIVE_INFINITY };
      this.#grants.set(key, grant);
    }
    return grant;
  }
}
