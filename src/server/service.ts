import type { Logger } from 'pino';
import type { Authenticator } from '../auth/authenticator.ts';
import type { EmbedOriginRegistry } from '../auth/embed-origin-registry.ts';
import type { KeyRegistry } from '../auth/key-registry.ts';
import type { KeyLimits } from '../auth/rate-limits.ts';
import type { CatalogChange, CatalogSource } from '../catalogs/catalog-store.ts';
import type { Durability, Endpoint, EngineChoice, MatcherChoice, PublicUrls } from '../config/config.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { ApiOperations } from '../operations/api-operations.ts';
import type { ConfirmationsView } from '../operations/confirm-revenue.ts';
import type { ClickRequest, ClickResult } from '../operations/follow-click.ts';
import type { CertificateFiles, CertificateReload, TlsVersion } from '../tls/certificate.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { DrainTimes } from './lifecycle.ts';

/** Settings of a service as plain values. `Config` and the options of the embedded API are both converted to it. */
export interface ServiceOptions {
  readonly dataDir: string;
  readonly secretFile: string;
  /** One live and one test catalog for each vertical. */
  readonly catalogs: readonly CatalogSource[];
  readonly durability: Durability;
  /** Days for which sessions and ledger records are kept; null keeps them forever. */
  readonly retentionDays: number | null;
  readonly matcher: MatcherChoice;
  readonly sessions: { readonly max: number; readonly ttlMs: number; readonly tagsMax: number };
  readonly limits: KeyLimits;
  readonly corsOrigins: readonly string[];
  /** Null starts no listeners; `resolveUrls` is then called with port 0. */
  readonly listen: {
    readonly public: Endpoint;
    readonly operations: Endpoint;
    /** Host names that the operations listener accepts besides its own and `localhost`. */
    readonly operationsAllowedHosts: readonly string[];
    readonly engine: EngineChoice;
    /** TLS of the public listener; null for plain HTTP. The operations listener has no TLS. */
    readonly tls: (CertificateFiles & { readonly minVersion: TlsVersion }) | null;
  } | null;
  readonly drain: DrainTimes;
  /** Aborts the start. `startService` then closes every opened part and rejects with the signal's reason. */
  readonly startAbortSignal?: AbortSignal;
  /** Returns the base URLs that replies contain, given the bound port of the public listener. */
  readonly resolveUrls: (boundPort: number) => PublicUrls;
  /** Called repeatedly while the start reads a log. */
  readonly onRestoreProgress?: (log: 'ledger' | 'journal', bytesRead: number, bytesTotal: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A running service. */
export interface Service extends AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'list' | 'revoke'>;
  /** Origins in which each account may embed widgets. */
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allow' | 'list' | 'remove'>;
  readonly urls: PublicUrls;
  /** Bound ports; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  /** HTTP engine of the listeners, with the reason for the choice; null without listeners. */
  readonly engine: { readonly name: 'uws' | 'node'; readonly reason: string } | null;
  followClick(request: ClickRequest): Promise<ClickResult>;
  /** Records one confirmation or an array of confirmations (docs/contract.md#confirmations). `text` is the JSON text of `rows`. */
  confirmRevenue(rows: unknown, text?: string, signal?: CancelSignal): Promise<Outcome<ConfirmationsView>>;
  /** File of the operator token, and whether this start created it; null without listeners. */
  readonly operatorToken: { readonly path: string; readonly created: boolean } | null;
  /** Reloads every catalog file. If a file is invalid, the active catalog stays. */
  reloadCatalogs(): Promise<readonly CatalogChange[]>;
  /** Reloads the certificate. If it is invalid, the active certificate stays. Returns null without TLS. */
  reloadCertificate(): CertificateReload | null;
  /** The reasons why the service does not accept requests; empty when it is ready. */
  notReadyReasons(): readonly string[];
  /** True from the call of `close` on. New operations must not start then. */
  isStopping(): boolean;
  /** HTTP requests that were received and not yet answered, on both listeners. */
  requestsInFlight(): number;
  /** Stops accepting requests, completes pending ones, makes the logs durable and closes every part. Idempotent. */
  close(): Promise<void>;
  /** Closes without waiting for pending requests, for a process after an uncaught exception. */
  closeNow(): Promise<void>;
}

export function servedVerticals({ catalogs }: ServiceOptions): Vertical[] {
  return [...new Set(catalogs.map(({ vertical }) => vertical))];
}
