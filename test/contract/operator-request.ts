import type { HttpRequest, HttpResponse } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';

type OperatorRequest = HttpRequest & { readonly json?: unknown };

/** Sends a request with the operator token to the operations listener. `json` is sent as the body. */
export function askOperator(market: RunningMarketplace, asked: OperatorRequest): Promise<HttpResponse> {
  const { json, body = json === undefined ? undefined : JSON.stringify(json), headers, ...rest } = asked;
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const authorization = { Authorization: `Bearer ${market.operatorToken}`, 'Content-Type': 'application/json' };
  return market.operations.send({
    ...rest,
    headers: { ...authorization, ...length, ...headers },
    ...(body !== undefined && { body }),
  });
}
