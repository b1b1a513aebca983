import { limits } from '../limits.ts';
import { FileSyntaxError } from './csv-parser.ts';
import { ConfirmationFileReader, type FileFormat, type FileRow } from './file-rows.ts';

/** Outcome of one row in an answer of `POST /confirmations`. */
export interface RowOutcome {
  readonly outcome: 'accepted' | 'repeated' | 'rejected' | 'unknown';
  readonly reason?: string;
  readonly payout?: { readonly state: string; readonly amount: number };
}

/** Answer to a batch: its outcomes, or a problem as a sentence. `isTemporary` means that the batch can be sent again after a delay. */
export type BatchAnswer =
  | { readonly kind: 'outcomes'; readonly outcomes: readonly RowOutcome[] }
  | { readonly kind: 'problem'; readonly problem: string; readonly isTemporary: boolean };

/** A rejected row. `line` is its text for the file of rejected rows. */
export interface RejectedRow {
  readonly place: number;
  readonly reason: string;
  readonly line: string;
}

export interface UploadProgress {
  /**
   * `sending` until `stop` or a problem pauses the upload (`stopped`, `paused`). `failed` is final: the file cannot be read further.
   */
  readonly phase: 'sending' | 'stopped' | 'paused' | 'failed' | 'done';
  /** Why the upload is paused or failed, as a sentence. */
  readonly problem: string | null;
  /** Share of the work that is done, from 0 to 1. */
  readonly share: number;
  /** Number of rows that the first pass has read. */
  readonly rows: number;
  readonly accepted: number;
  readonly repeated: number;
  /** Number of repeated payouts that are reversed, at least in part. */
  readonly reversedPayouts: number;
  readonly rejected: number;
  readonly rejectedByReason: ReadonlyMap<string, number>;
  /** Rejected rows, at most `limits.rejectedRowsKeptMax`. */
  readonly rejectedRows: readonly RejectedRow[];
  readonly rejectedRowsHeader: string;
}

interface UploadOptions {
  readonly format: FileFormat;
  readonly file: Pick<Blob, 'size' | 'stream'>;
  /** Sends a JSON array of rows. */
  readonly send: (body: string) => Promise<BatchAnswer>;
  readonly onProgress: () => void;
  /** Resolves after a delay in milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Sends a file of confirmations in batches, in two passes: first the payouts, then the reversals, so that a reversal can precede its payout
 * in the file. Memory use does not depend on the size of the file. A batch is repeated after a temporary problem, which is safe because the
 * server answers `repeated` for a row that it has booked. After the last attempt, the upload pauses until `resume`.
 *
 *     sending --stop--> stopped --resume--> sending        sending --problem--> paused --resume--> sending
 *     sending --end of the file--> done                    sending --file cannot be read--> failed
 */
export class ConfirmationUpload {
  readonly #options: UploadOptions;
  readonly #reader: ConfirmationFileReader;
  readonly #rejectedByReason = new Map<string, number>();
  readonly #rejectedRows: RejectedRow[] = [];
  #phase: UploadProgress['phase'] = 'sending';
  #problem: string | null = null;
  #bytesRead = 0;
  #counts = { rows: 0, accepted: 0, repeated: 0, reversedPayouts: 0, rejected: 0 };
  /** Resolves when the upload may go on. */
  #gate: Promise<void> = Promise.resolve();
  #openGate = () => {};

  constructor(options: UploadOptions) {
    this.#options = options;
    this.#reader = new ConfirmationFileReader(options.format);
  }

  get progress(): UploadProgress {
    const { size } = this.#options.file;
    return {
      ...this.#counts,
      phase: this.#phase,
      problem: this.#problem,
      share: this.#phase === 'done' || size === 0 ? 1 : this.#bytesRead / (2 * size),
      rejectedByReason: this.#rejectedByReason,
      rejectedRows: this.#rejectedRows,
      rejectedRowsHeader: this.#reader.rejectedRowsHeader,
    };
  }

  /** Sends the file. Resolves when the upload is done or failed. Call this method once. */
  async run(): Promise<void> {
    try {
      const hasReversals = await this.#sendPass('payouts');
      if (hasReversals) await this.#sendPass('reversals');
      this.#rejectedRows.sort((one, other) => one.place - other.place);
      this.#setPhase('done');
    } catch (error) {
      this.#setPhase('failed', (error as Error).message);
    }
  }

  /** Stops the upload after the batch in progress. */
  stop(): void {
    if (this.#phase === 'sending') this.#pause('stopped');
  }

  /** Continues a stopped or paused upload. */
  resume(): void {
    if (this.#phase !== 'stopped' && this.#phase !== 'paused') return;
    this.#setPhase('sending');
    this.#openGate();
  }

  #pause(phase: 'stopped' | 'paused', problem: string | null = null): void {
    this.#gate = new Promise((resolve) => {
      this.#openGate = resolve;
    });
    this.#setPhase(phase, problem);
  }

  #setPhase(phase: UploadProgress['phase'], problem: string | null = null): void {
    this.#phase = phase;
    this.#problem = problem;
    this.#options.onProgress();
  }

  /** Sends the payouts or the reversals of the file. Returns whether the file contains reversals. */
  async #sendPass(pass: 'payouts' | 'reversals'): Promise<boolean> {
    let hasReversals = false;
    let batch: FileRow[] = [];
    let bytes = 0;
    for await (const row of this.#reader.readRows(this.#readText())) {
      hasReversals ||= row.isReversal;
      if (pass === 'payouts') this.#counts.rows++;
      if (row.isReversal !== (pass === 'reversals')) continue;
      if (row.json === null) {
        this.#addOutcome(row, { outcome: 'rejected', reason: row.reason ?? 'not_json' });
        continue;
      }
      // Adds a byte for the comma, and the two brackets.
      const rowBytes = new TextEncoder().encode(row.json).length + 1;
      if (batch.length === limits.rowsPerRequestMax || bytes + rowBytes + 2 > limits.bodyBytesMax) {
        await this.#sendBatch(batch);
        batch = [];
        bytes = 0;
      }
      batch.push(row);
      bytes += rowBytes;
    }
    if (batch.length > 0) await this.#sendBatch(batch);
    return hasReversals;
  }

  async *#readText(): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const reader = this.#options.file.stream().getReader();
    const readNext = () =>
      reader.read().catch(() => {
        throw new FileSyntaxError('The file cannot be read: it changed or was removed. Choose it again.');
      });
    const decode = (bytes?: Uint8Array) => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch {
        throw new FileSyntaxError('The file is not UTF-8 text.');
      }
    };
    try {
      for (;;) {
        const { done, value } = await readNext();
        if (done) break;
        yield decode(value);
        this.#bytesRead += value.length;
      }
      yield decode();
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** Sends a batch until every row has an outcome other than `unknown`, or the last attempt has failed and rows stay `unknown`. */
  async #sendBatch(rows: readonly FileRow[]): Promise<void> {
    let pending = rows;
    for (let attempt = 1; pending.length > 0; attempt++) {
      await this.#gate;
      const answer = await this.#options.send(`[${pending.map(({ json }) => json).join(',')}]`);
      const isLast = attempt >= limits.attemptsMax;
      if (answer.kind === 'outcomes') {
        pending = this.#addOutcomes(pending, answer.outcomes, isLast);
        this.#options.onProgress();
      } else if (isLast || !answer.isTemporary) {
        this.#pause('paused', answer.problem);
        attempt = 0;
        continue;
      }
      if (pending.length > 0) await this.#options.wait(limits.retryDelayMs * 2 ** (attempt - 1));
    }
  }

  /** Adds the outcomes of the rows. Returns the rows to send again. */
  #addOutcomes(rows: readonly FileRow[], outcomes: readonly RowOutcome[], isLast: boolean): readonly FileRow[] {
    const unknown: FileRow[] = [];
    for (const [index, row] of rows.entries()) {
      const outcome = outcomes[index] ?? { outcome: 'unknown' };
      if (outcome.outcome === 'unknown' && !isLast) unknown.push(row);
      else this.#addOutcome(row, outcome);
    }
    return unknown;
  }

  #addOutcome(row: FileRow, { outcome, reason = outcome, payout }: RowOutcome): void {
    if (outcome === 'accepted' || outcome === 'repeated') {
      this.#counts[outcome]++;
      const isReversedPayout =
        outcome === 'repeated' && !row.isReversal && payout !== undefined && payout.state !== 'funded';
      if (isReversedPayout) this.#counts.reversedPayouts++;
      return;
    }
    this.#counts.rejected++;
    this.#rejectedByReason.set(reason, (this.#rejectedByReason.get(reason) ?? 0) + 1);
    if (this.#rejectedRows.length >= limits.rejectedRowsKeptMax) return;
    this.#rejectedRows.push({ place: row.place, reason, line: row.formatRejected({ reason, payout }) });
  }
}
