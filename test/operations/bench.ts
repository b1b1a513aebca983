import type { TestContext } from 'node:test';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { type ApiOperation, type ApiRequest, runOperation } from '../../src/operations/api-operation.ts';
import type { ParameterTexts } from '../../src/operations/request-members.ts';
import { SessionStore } from '../../src/sessions/session-store.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import type { TemporaryLedger } from '../support/temporary-logs.ts';

const verticals = [...builtInVerticals.verticals, equipmentLeases];
export const sessionTtlMs = 4 * 60 * 60 * 1000;

/** Opens a session store until the end of the test. */
export function openSessionStore(t: TestContext, clock: ManualClock, { sessionsMax = 1_000 } = {}): SessionStore {
  const sessions = new SessionStore({ clock, sessionTtlMs, verticals, sessionsMax });
  runAfterTest(t, () => sessions.close());
  return sessions;
}

/** Returns `ok`, or the error code and the invalid parameter. */
export function verdictOf(outcome: Outcome<unknown>): string {
  if (outcome.ok) return 'ok';
  const { code, param } = outcome.error;
  return param === undefined ? code : `${code} ${param}`;
}

/** Returns a healthy ledger that uses `append` instead of writing records. */
export function ledgerWith({ log }: TemporaryLedger, append: () => ReturnType<Ledger['append']>): Ledger {
  return Object.create(log, { append: { value: append }, healthy: { value: true } });
}

/** Repairs the files of a ledger, and waits until its record at this position is durable. */
export async function repairUntilDurable({ log, repairFiles }: TemporaryLedger, position: number): Promise<void> {
  repairFiles();
  while (log.durablePosition < position) await new Promise(setImmediate);
}

/** Number of the API key of the requests from `callOperation`. */
export const keyNumber = 17;

/** Validates a request and runs an operation, as the HTTP routes and the embedded API do. */
export function callOperation<Deps, Input, Result>(
  operation: ApiOperation<Deps, Input, Result>,
  deps: Deps,
  tenant: Tenant,
  { texts = {}, body }: { readonly texts?: ParameterTexts; readonly body?: unknown },
  request: Partial<ApiRequest> = {},
) {
  const defaults = {
    quotaReservation: null,
    idempotencyKey: null,
    hasResponseBody: true,
    signal: null,
    actorKind: 'partner_key',
  } as const;
  return runOperation(operation, deps, texts, body, { caller: { ...tenant, keyNumber }, ...defaults, ...request });
}
