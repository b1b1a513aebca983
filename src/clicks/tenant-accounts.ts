import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import { CatalogAvailability } from './catalog-availability.ts';
import { ClickRhythm, type DayOfClicks } from './click-rhythm.ts';
import { OfferAccount, type StoredAccount } from './offer-account.ts';

/** Accounts and click rhythm of one vertical and mode in a snapshot. */
export interface StoredTenantAccounts {
  readonly accounts: readonly (readonly [offerId: string, account: StoredAccount])[];
  readonly rhythm: readonly DayOfClicks[];
}

/** Accounts of the offers of one vertical and mode, and the availability of the offers in the active catalog. */
export class TenantAccounts {
  readonly rhythm = new ClickRhythm();
  /** Availability of the active catalog's offers; null before the first activation. */
  availability: CatalogAvailability | null = null;
  /** Whether clicks of the vertical confirm their own revenue, so that every click needs a decision. */
  clicksConfirmRevenue = false;
  /** Number of accounts with `tracksSessions`. */
  trackedCount = 0;
  /** Whether some accounts with `tracksSessions` must count the clicks of the day from the ledger, see `OfferAccount`. */
  recountsClicks = false;
  readonly #accounts = new Map<string, OfferAccount>();

  findAccount(offerId: string): OfferAccount | undefined {
    return this.#accounts.get(offerId);
  }

  /**
   * Returns the account of an offer that was shown or clicked, or null if there are too many accounts. An offer without an account was
   * removed from the catalog.
   */
  findOrAddAccount(offerId: string): OfferAccount | null {
    const account = this.#accounts.get(offerId);
    if (account !== undefined) return account;
    const listedOffers = this.availability?.catalog.offers.length ?? 0;
    if (this.#accounts.size >= listedOffers + bounds.removedOfferAccountsMax) return null;
    return this.#addAccount(offerId);
  }

  /** Replaces the account of an offer by an account that tracks sessions. */
  replaceAccount(offerId: string, account: OfferAccount): void {
    const old = this.#accounts.get(offerId);
    if (old !== undefined) account.adoptRevenue(old);
    this.#accounts.set(offerId, account);
    this.#countTrackedAccounts();
  }

  /**
   * Applies the limits of a new active catalog. The limits of an offer that was removed from the catalog apply for another 28 hours
   * (docs/contract.md#daily-caps).
   */
  activateCatalog(catalog: CompiledCatalog, nowMs: number): void {
    this.clicksConfirmRevenue = catalog.vertical.clicksConfirmRevenue === true;
    for (const account of this.#accounts.values()) account.catalogIndex = -1;
    const listed = catalog.offers.map(({ id, dailyCap, budget }, catalogIndex) => {
      const account = this.#accounts.get(id) ?? this.#addAccount(id);
      const clickMicros = catalog.clickValueRange(catalogIndex);
      Object.assign(account, { dailyCap, budget, removedMs: null, catalogIndex, clickMicros });
      account.tracksSessions = this.clicksConfirmRevenue || account.hasLimits;
      return account;
    });
    for (const account of this.#accounts.values()) {
      if (account.catalogIndex < 0) account.removedMs ??= nowMs;
    }
    this.availability = new CatalogAvailability(catalog, listed, this.rhythm);
    this.deleteOldAccounts(nowMs);
  }

  /** Ends the limits of offers that were removed 28 hours ago, and deletes the accounts of removed offers without recent revenue. */
  deleteOldAccounts(nowMs: number): void {
    const month = monthOfDay(daysSinceEpoch(nowMs - bounds.clockSetBackMsMax)).number;
    for (const [id, account] of this.#accounts) {
      if (account.catalogIndex >= 0 || account.removedMs === null) continue;
      if (nowMs - account.removedMs < bounds.replacedCatalogRetentionMs) continue;
      Object.assign(account, { dailyCap: null, budget: null, tracksSessions: this.clicksConfirmRevenue });
      if (!account.hasFiguresSince(month)) this.#accounts.delete(id);
    }
    this.#countTrackedAccounts();
  }

  toStored(): StoredTenantAccounts {
    const accounts = [...this.#accounts].map(([id, account]) => [id, account.toStored()] as const);
    return { accounts: accounts.filter(([, [days]]) => days.length > 0), rhythm: this.rhythm.listDays() };
  }

  restore({ accounts, rhythm }: StoredTenantAccounts): void {
    for (const [id, stored] of accounts) (this.#accounts.get(id) ?? this.#addAccount(id)).restore(stored);
    for (const day of rhythm) this.rhythm.restoreDay(day);
  }

  #addAccount(offerId: string): OfferAccount {
    const account = new OfferAccount();
    account.tracksSessions = this.clicksConfirmRevenue;
    if (account.tracksSessions) this.trackedCount++;
    this.#accounts.set(offerId, account);
    return account;
  }

  #countTrackedAccounts(): void {
    this.trackedCount = 0;
    this.recountsClicks = false;
    for (const { tracksSessions, recountsClicks } of this.#accounts.values()) {
      if (!tracksSessions) continue;
      this.trackedCount++;
      this.recountsClicks ||= recountsClicks;
    }
  }
}
