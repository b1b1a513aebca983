import type { Mode } from '../domain/mode.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { TagSet } from './tag-set.ts';

/** A tag's use by a session whose record is on its way. */
export interface TagReservation {
  /** Must be called once: `taken` says whether the ledger has the record, or will have it. */
  settle(taken: boolean): void;
}

const settledReservation: TagReservation = { settle: () => {} };

/**
 * The referrer tags of each account, vertical and mode, and a limit to their number: a tag keeps its daily figures for ever.
 *
 * A tag counts once the ledger has taken the record of a session under it; until then it is pending, which counts as well. Tags of
 * earlier runs are restored from the analytics store, and the limit applies once all of them are here.
 */
export class ReferrerTags {
  readonly #tagsMax: number;
  readonly #tenants = new Map<number, TenantTags>();
  #isLimitEnabled = false;

  /** @param tagsMax for each account, vertical and mode */
  constructor(tagsMax: number) {
    this.#tagsMax = tagsMax;
  }

  /** Reserves a tag for a new session; null when the tag is new and the limit is reached. */
  reserve({ account, vertical, mode }: Tenant, tag: string): TagReservation | null {
    const limit = this.#isLimitEnabled ? this.#tagsMax : Number.POSITIVE_INFINITY;
    return this.#tagsOf(account, vertical.number, mode).reserve(tag, limit);
  }

  /** Adds a tag that sessions were created under in an earlier run. */
  restore(account: number, vertical: number, mode: Mode, tag: string): void {
    this.#tagsOf(account, vertical, mode).add(tag);
  }

  /** All tags of earlier runs have been restored: the limit applies from now on. */
  enableLimit(): void {
    this.#isLimitEnabled = true;
  }

  #tagsOf(account: number, vertical: number, mode: Mode): TenantTags {
    // A vertical's number has seven bits.
    const name = account * 256 + vertical * 2 + (mode === 'test' ? 1 : 0);
    let tags = this.#tenants.get(name);
    if (tags === undefined) {
      tags = new TenantTags();
      this.#tenants.set(name, tags);
    }
    return tags;
  }
}

class TenantTags {
  readonly #tags = new TagSet();
  /** New tags, each with the number of its sessions on their way. */
  readonly #pendingCounts = new Map<string, number>();

  reserve(tag: string, limit: number): TagReservation | null {
    if (this.#tags.has(tag)) return settledReservation;
    const uses = this.#pendingCounts.get(tag) ?? 0;
    if (uses === 0 && this.#tags.size + this.#pendingCounts.size >= limit) return null;
    this.#pendingCounts.set(tag, uses + 1);
    return { settle: (taken) => (taken ? this.add(tag) : this.#cancelReservation(tag)) };
  }

  add(tag: string): void {
    this.#tags.add(tag);
    this.#pendingCounts.delete(tag);
  }

  #cancelReservation(tag: string): void {
    const uses = this.#pendingCounts.get(tag);
    if (uses === 1) this.#pendingCounts.delete(tag);
    else if (uses !== undefined) this.#pendingCounts.set(tag, uses - 1);
  }
}
