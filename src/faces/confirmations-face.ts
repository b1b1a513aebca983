import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Handler } from '../http/listener.ts';
import type { ConfirmationsView } from '../operations/confirm-revenue.ts';
import { replyToJsonBody, operatorOnly, type IsOperator } from './for-operator.ts';

export const confirmationsPath = '/confirmations';

export interface ConfirmationsRouteDeps {
  readonly isOperator: IsOperator;
  /** `text` is the JSON text of `body`. */
  readonly confirm: (body: unknown, text: string, signal: CancelSignal) => Promise<Outcome<ConfirmationsView>>;
}

/** `POST /confirmations` (docs/contract.md#confirmations). The rows never refuse each other. */
export function confirmationsRoute({ isOperator, confirm }: ConfirmationsRouteDeps): Handler {
  return operatorOnly(isOperator, {
    POST: (exchange) => replyToJsonBody(exchange, (body, text) => confirm(body, text, exchange)),
  });
}
