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
import type { DrainTimes } from './shutdown.ts';

/** Everything a service is made of, as plain values; `Config` and the options of the embedded API both come to this. */
export interface ServiceOptions {
  readonly dataDir: string;
  readonly secretFile: string;
  /** One live and one test catalog for each vertical served. */
  readonly catalogs: readonly CatalogSource[];
  readonly durability: Durability;
  /** Days back from today that sessions and the ledger are kept; null: for ever. */
  readonly retentionDays: number | null;
  readonly matcher: MatcherChoice;
  readonly sessions: { readonly max: number; readonly ttlMs: number; readonly tagsMax: number };
  readonly limits: KeyLimits;
  readonly corsOrigins: readonly string[];
  /** Null: no listeners, and `resolveUrls` is asked with port 0. */
  readonly listen: {
    readonly public: Endpoint;
    readonly operations: Endpoint;
    /** Host names under which the operations listener answers, beside its own and `localhost`. */
    readonly operationsAllowedHosts: readonly string[];
    readonly engine: EngineChoice;
    /** Null: the public listener speaks plain HTTP, as the operations listener always does. */
    readonly tls: (CertificateFiles & { readonly minVersion: TlsVersion }) | null;
  } | null;
  readonly drain: DrainTimes;
  /** Gives up the start, which then rejects with the signal's reason, having closed what was opened. */
  readonly startAbortSignal?: AbortSignal;
  /** Our addresses as answers name them, given the public port that was bound. */
  readonly resolveUrls: (boundPort: number) => PublicUrls;
  /** Told now and then how far the start has got with what it reads back, in bytes. */
  readonly onRestoreProgress?: (what: 'ledger' | 'journal', bytes: number, ofBytes: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A running service: its operations behind the gate, and the means to look after it. */
export interface Service extends AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'list' | 'revoke'>;
  /** Where the widgets of each account may be embedded. */
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allow' | 'list' | 'remove'>;
  readonly urls: PublicUrls;
  /** Ports bound; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  /** HTTP engine of the listeners, and in words which build of it runs and why; null without listeners. */
  readonly engine: { readonly name: 'uws' | 'node'; readonly reason: string } | null;
  followClick(request: ClickRequest): Promise<ClickResult>;
  /** Takes one confirmation or an array of them (docs/contract.md#confirmations); `text` is the JSON they were parsed from, if any. */
  confirmRevenue(rows: unknown, text?: string, signal?: CancelSignal): Promise<Outcome<ConfirmationsView>>;
  /** Where the token for the operations listener is, and whether this start has written it; null without listeners. */
  readonly operatorToken: { readonly path: string; readonly created: boolean } | null;
  /** Reads every catalog that came from a file again; a faulty one keeps what is in use. */
  reloadCatalogs(): Promise<readonly CatalogChange[]>;
  /** Reads the certificate again; a faulty one keeps what is in use. Null when it serves without TLS. */
  reloadCertificate(): CertificateReload | null;
  /** What keeps it from taking requests, in words; empty when it is ready. */
  notReadyReasons(): readonly string[];
  /** Whether it was told to close: nothing more is to be begun. */
  isStopping(): boolean;
  /** Requests over HTTP that were received and have no answer yet, on both listeners. */
  requestsInFlight(): number;
  /** Stops taking requests, answers those in flight, makes the log durable, closes everything. Idempotent. */
  close(): Promise<void>;
  /** The same without waiting for requests in flight: for a process that cannot be relied on any more. */
  closeNow(): Promise<void>;
}

/** Those that a service with these options serves. */
export function servedVerticals({ catalogs }: ServiceOptions): Vertical[] {
  return [...new Set(catalogs.map(({ vertical }) => vertical))];
}
