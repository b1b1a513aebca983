import type { Mode } from '../domain/mode.ts';
import type { Vertical } from '../verticals/vertical.ts';

/** Who is asking, as far as anything behind the gate needs to know: sessions, tags and figures are theirs alone (D4). */
export interface Caller {
  /** Account number, unsigned 32 bits. */
  readonly account: number;
  readonly vertical: Vertical;
  readonly mode: Mode;
  /** The key used, for the day's count in the ledger (D13). */
  readonly keyNumber: number;
}
