import type { Confirmation, Payout } from './confirmation.ts';
import type { AskedPayout, KnownPayout } from './confirmation-history.ts';
import { changeMicros, payoutAfter } from './judge-confirmation.ts';

interface Click {
  readonly shown: boolean;
  readonly clickedMs: number | null;
  readonly lenderName: string | null;
}

/** What the ledger holds of the rows of one batch, kept up to date as its rows are accepted one after the other. */
export class BatchHistory {
  readonly #sessions = new Map<string, number>();
  readonly #clicks = new Map<string, Click>();
  readonly #payouts = new Map<string, Payout | null>();

  /** @param known answers to `asked`, in their order. */
  constructor(asked: readonly AskedPayout[], known: readonly KnownPayout[]) {
    for (const [index, about] of asked.entries()) {
      const { shown, clickedMs, lenderName, sessionMicros, payout } = known[index]!;
      this.#sessions.set(sessionKey(about), sessionMicros);
      this.#clicks.set(clickKey(about), { shown, clickedMs, lenderName });
      this.#payouts.set(payoutKey(about), payout);
    }
  }

  /** Only of rows the batch was opened with. */
  of(about: AskedPayout): KnownPayout {
    return {
      ...this.#clicks.get(clickKey(about))!,
      sessionMicros: this.#sessions.get(sessionKey(about))!,
      payout: this.#payouts.get(payoutKey(about)) ?? null,
    };
  }

  accept(confirmation: Confirmation, lenderName: string): void {
    const { clickedMs, shown, sessionMicros, payout } = this.of(confirmation);
    this.#sessions.set(sessionKey(confirmation), sessionMicros + changeMicros(confirmation));
    // A click restored by one row is there for the rows behind it.
    this.#clicks.set(clickKey(confirmation), {
      shown,
      clickedMs: clickedMs ?? confirmation.click?.clickedMs ?? null,
      lenderName,
    });
    this.#payouts.set(payoutKey(confirmation), payoutAfter(confirmation, payout));
  }
}

function sessionKey({ sub }: AskedPayout): string {
  return Buffer.from(sub).toString('latin1');
}

/** Ids and names of offers and payouts hold no space. */
function clickKey(about: AskedPayout): string {
  return `${sessionKey(about)} ${about.offerId}`;
}

function payoutKey(about: AskedPayout): string {
  return `${clickKey(about)} ${about.txid}`;
}
