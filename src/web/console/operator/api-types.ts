// Types of the answers of the operations API (docs/operations-api.md), from the functions of the server that create them. Only types may be
// imported from the server: the browser program contains none of its code.
import type { CatalogChangesPage } from '../../../http/routes/operator/catalog-changes.ts';
import type { CatalogOffersPage } from '../../../http/routes/operator/catalog-routes.ts';
import type { KeyView } from '../../../http/routes/operator/key-routes.ts';

export type { CatalogChangesPage } from '../../../http/routes/operator/catalog-changes.ts';
export type { CatalogOffersPage, CatalogView as Catalog } from '../../../http/routes/operator/catalog-routes.ts';
export type { CreatedKey, KeysPage, KeyView as Key } from '../../../http/routes/operator/key-routes.ts';
export type { OriginView as Origin } from '../../../http/routes/operator/origin-route.ts';
export type { Page } from '../../../http/routes/operator/page-query.ts';
export type { ServiceStatus as Status } from '../../../http/routes/operator/status-route.ts';
export type { TestClockTime as TestClock } from '../../../operations/advance-clock.ts';
export type {
  AuditEntryView as AuditEntry,
  ConfirmationUploadView as ConfirmationUploadEntry,
} from '../../../operations/audit-views.ts';

/** Limits of a key. Null means the default limit. */
export type KeyLimits = Pick<KeyView, keyof KeyView['usage']>;
export type LimitUse = KeyView['usage'][keyof KeyLimits];

export type CatalogOffer = CatalogOffersPage['data'][number];
export type OfferState = CatalogOffer['state'];
export type OfferBudget = NonNullable<CatalogOffer['budget']>;
export type BudgetPeriod = NonNullable<OfferBudget['day']>;

export type ChangedOffer = CatalogChangesPage['data'][number];
export type ChangedMember = ChangedOffer['members'][number];
