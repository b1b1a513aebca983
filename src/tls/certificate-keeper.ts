import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type Certificate, InvalidCertificateError, type CertificateFiles, readCertificate } from './certificate.ts';

/** What became of reading the certificate's files again. */
export type CertificateReload =
  /** `recovered`: the reading before found a pair that cannot be used. */
  | { readonly ok: true; readonly changed: boolean; readonly recovered: boolean; readonly expiresAtMs: number }
  | { readonly ok: false; readonly fault: string };

export interface CertificateStoreOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  /** The certificate in use ends soon, or has ended: told when it comes into use, and twice a day from then on. */
  readonly onExpiryWarning: (secondsLeft: number) => void;
}

/** The certificate in use: read at the start, read again on request, and replaced only by one that can be used. */
export class CertificateStore {
  readonly #options: CertificateStoreOptions;
  readonly #expiryCheck: NodeJS.Timeout;
  #current: Certificate;
  #onCertificateChange: (certificate: Certificate) => void = () => {};
  #lastReloadFailed = false;

  /** @throws InvalidCertificateError */
  constructor(options: CertificateStoreOptions) {
    this.#options = options;
    this.#current = readCertificate(options.files);
    this.#expiryCheck = setInterval(() => this.#checkExpiry(), bounds.certificateExpiryCheckIntervalMs);
    this.#checkExpiry();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Until it ends; negative once it has. */
  get secondsUntilExpiry(): number {
    return Math.floor((this.#current.expiresAtMs - this.#options.clock.wallMs()) / 1000);
  }

  /** Whether the files, when last read, held a pair that cannot be used. */
  get lastReloadFailed(): boolean {
    return this.#lastReloadFailed;
  }

  /** Who has to be given later certificates. `use` throws when it cannot take one, and goes on with the one it has. */
  onChange(onCertificateChange: (certificate: Certificate) => void): void {
    this.#onCertificateChange = onCertificateChange;
  }

  reload(): CertificateReload {
    try {
      const found = readCertificate(this.#options.files);
      const { certificatePem, keyPem } = this.#current;
      const changed = !found.certificatePem.equals(certificatePem) || !found.keyPem.equals(keyPem);
      if (changed) {
        this.#onCertificateChange(found);
        this.#current = found;
        this.#checkExpiry();
      }
      const recovered = this.#lastReloadFailed;
      this.#lastReloadFailed = false;
      return { ok: true, changed, recovered, expiresAtMs: found.expiresAtMs };
    } catch (fault) {
      if (!(fault instanceof InvalidCertificateError)) throw fault;
      this.#lastReloadFailed = true;
      return { ok: false, fault: fault.message };
    }
  }

  close(): void {
    clearInterval(this.#expiryCheck);
  }

  #checkExpiry(): void {
    const { secondsUntilExpiry } = this;
    if (secondsUntilExpiry * 1000 < bounds.certificateExpiryWarningMs) this.#options.onExpiryWarning(secondsUntilExpiry);
  }
}
