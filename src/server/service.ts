import type { Logger } from 'pino';
import type { AuditActor } from '../audit/audit-log.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { EmbedOriginRegistry } from '../auth/embed-origin-registry.ts';
import type { KeyRegistry } from '../auth/key-registry.ts';
import type { CatalogFileReload } from '../catalogs/catalog-store.ts';
import type { CatalogSource } from '../catalogs/parse-catalog.ts';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import type { PublicUrls, ResolvedSettings } from '../config/service-settings.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { LogoSource } from '../http/routes/static-routes.ts';
import type { ClockAdvance } from '../operations/advance-clock.ts';
import type { ApiOperationDeps } from '../operations/api-operations.ts';
import type { ConfirmationsResponse } from '../operations/confirm-revenue.ts';
import type { ClickRequest, ClickResult } from '../operations/follow-click.ts';
import type { CertificateReload } from '../tls/certificate.ts';

/** One of several services that divide the accounts of a data folder among them (docs/scaling.md). */
export interface ShardOptions {
  /** Number of this shard, from 0 to `count - 1`. */
  readonly number: number;
  readonly count: number;
  /** Data folder of shard 0, which also has the files that all shards share: keys, secrets, operator token and audit log. */
  readonly rootDir: string;
}

/** Settings of a service, and the parts that are not plain values. `dataDir` is the folder of the shard if there are several. */
export interface ServiceOptions extends ResolvedSettings {
  /** Null for a service without other shards. */
  readonly shard: ShardOptions | null;
  /** Verticals of this release, with the products of all catalogs. */
  readonly registry: VerticalRegistry;
  /** Catalog sources: one live and one test catalog for each vertical. */
  readonly catalogs: readonly CatalogSource[];
  /** Signal that aborts the start. After an abort, `startService` closes every opened component and rejects with the signal's reason. */
  readonly startAbortSignal?: AbortSignal;
  /** Called repeatedly while the service reads a log during its start. */
  readonly onRestoreProgress?: (log: 'ledger' | 'journal', bytesRead: number, bytesTotal: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A running service. */
export interface Service extends AsyncDisposable {
  readonly authenticator: Authenticator;
  /** Components that the API operations use. */
  readonly operationDeps: ApiOperationDeps;
  /** Clock of the service: the test clock, or the clock of the options. */
  readonly clock: Clock;
  /** Reads and advances the test clock; null without a test clock. */
  readonly testClock: Pick<ClockAdvance, 'advance' | 'readTime'> | null;
  /** Records changes in the audit log of the data folder. */
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'listKeys' | 'revokeKey'>;
  /** Origins on which each account may embed widgets. */
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allowOrigins' | 'listOrigins' | 'listPage' | 'removeOrigins'>;
  readonly urls: PublicUrls;
  /** Served verticals, in the order of their catalogs. */
  readonly verticals: readonly Vertical[];
  /** Paths of the catalog files that `reloadCatalogs` reads. */
  readonly catalogFiles: readonly string[];
  /** Bound ports of the two listeners; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  /** HTTP engine of the listeners, with the reason for the choice; null without listeners. */
  readonly engine: { readonly name: 'uws' | 'node'; readonly reason: string } | null;
  followClick(request: ClickRequest): Promise<ClickResult>;
  /** Records one confirmation or an array of confirmations (docs/contract.md#confirmations). `text` is the JSON text of `rows`. */
  confirmRevenue(
    actor: AuditActor,
    rows: unknown,
    text?: string,
    signal?: CancelSignal,
  ): Promise<Outcome<ConfirmationsResponse>>;
  readonly findLogo: LogoSource['findFile'];
  /** Returns the HTML of a built-in landing page; null if the path belongs to no landing page. */
  renderLandingPage(path: string, query: string): string | null;
  /** Path of the operator token file, and whether this start created the file; null without listeners. */
  readonly operatorToken: { readonly path: string; readonly created: boolean } | null;
  /** Reloads every catalog file. If a file is invalid, the catalog that was loaded from this file before stays active. */
  reloadCatalogs(): Promise<readonly CatalogFileReload[]>;
  /** Reloads the certificate. If the new certificate is invalid, the previous certificate stays active. Returns null without TLS. */
  reloadCertificate(): CertificateReload | null;
  /** Returns the reasons why the service does not accept requests; empty when the service is ready. */
  notReadyReasons(): readonly string[];
  /** Returns whether `close` has been called. After the call of `close`, new operations are rejected. */
  isStopping(): boolean;
  /** Saves a snapshot now, as the service does periodically. */
  saveSnapshot(): Promise<void>;
  /** Number of HTTP requests on both listeners that are received and not yet answered. */
  requestsInFlight(): number;
  /** Stops accepting requests, completes pending requests, makes the logs durable and closes all components. Idempotent. */
  close(): Promise<void>;
  /** Closes all components of the service without waiting for pending requests, for example after an uncaught exception. */
  closeImmediately(): Promise<void>;
}

/** Returns the folder of the files that all shards share, which is the data folder of a service without other shards. */
export function sharedDir({ shard, dataDir }: Pick<ServiceOptions, 'shard' | 'dataDir'>): string {
  return shard?.rootDir ?? dataDir;
}

export function servedVerticals({ catalogs }: ServiceOptions): Vertical[] {
  return [...new Set(catalogs.map(({ vertical }) => vertical))];
}
