import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type Certificate, CertificateFaulty, type CertificateFiles, readCertificate } from './certificate.ts';

/** What became of reading the certificate's files again. */
export type CertificateChange =
  /** `recovered`: the reading before found a pair that cannot be used. */
  | { readonly ok: true; readonly changed: boolean; readonly recovered: boolean; readonly expiresAtMs: number }
  | { readonly ok: false; readonly fault: string };

export interface CertificateKeeperOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  /** The certificate in use ends soon, or has ended: told when it comes into use, and twice a day from then on. */
  readonly onExpiry: (secondsLeft: number) => void;
}

/** The certificate in use: read at the start, read again on request, and replaced only by one that can be used. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #expiryCheck: NodeJS.Timeout;
  #current: Certificate;
  #use: (certificate: Certificate) => void = () => {};
  #faulty = false;

  /** @throws CertificateFaulty */
  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
    this.#current = readCertificate(options.files);
    this.#expiryCheck = setInterval(() => this.#checkExpiry(), bounds.certificateExpiryCheckMs);
    this.#checkExpiry();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Until it ends; negative once it has. */
  get secondsLeft(): number {
    return Math.floor((this.#current.expiresAtMs - this.#options.clock.wallMs()) / 1000);
  }

  /** Whether the files, when last read, held a pair that cannot be used. */
  get faulty(): boolean {
    return this.#faulty;
  }

  /** Who has to be given later certificates. `use` throws when it cannot take one, and goes on with the one it has. */
  onChange(use: (certificate: Certificate) => void): void {
    this.#use = use;
  }

  reload(): CertificateChange {
    try {
      const found = readCertificate(this.#options.files);
      const { certificatePem, keyPem } = this.#current;
      const changed = !found.certificatePem.equals(certificatePem) || !found.keyPem.equals(keyPem);
      if (changed) {
        this.#use(found);
        this.#current = found;
        this.#checkExpiry();
      }
      const recovered = this.#faulty;
      this.#faulty = false;
      return { ok: true, changed, recovered, expiresAtMs: found.expiresAtMs };
    } catch (fault) {
      if (!(fault instanceof CertificateFaulty)) throw fault;
      this.#faulty = true;
      return { ok: false, fault: fault.message };
    }
  }

  close(): void {
    clearInterval(this.#expiryCheck);
  }

  #checkExpiry(): void {
    const { secondsLeft } = this;
    if (secondsLeft * 1000 < bounds.certificateExpiryWarnedMs) this.#options.onExpiry(secondsLeft);
  }
}
