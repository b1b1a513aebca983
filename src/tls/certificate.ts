import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';

/** Absolute paths, both files in PEM. */
export interface CertificateFiles {
  /** The certificate, followed by those that lead to its authority. */
  readonly certificateFile: string;
  /** Its private key, without a passphrase. */
  readonly keyFile: string;
}

/** A certificate and its key as their files held them: judged, and fit to be used. */
export interface Certificate extends CertificateFiles {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
  /** When it ends, in milliseconds since the Unix epoch. */
  readonly expiresAtMs: number;
}

/** The oldest protocol that is spoken. */
export const tlsVersions = ['1.2', '1.3'] as const;
export const tlsMinVersionDefault = tlsVersions[0];
export type TlsVersion = (typeof tlsVersions)[number];

/** One of the two files cannot be used. Its content is never repeated. */
export class InvalidCertificateError extends Error {
  override readonly name = 'InvalidCertificateError';
  readonly part: 'certificate' | 'key';
  readonly file: string;
  /** What the file should be. */
  readonly expected: string;

  constructor(part: 'certificate' | 'key', files: CertificateFiles, expected: string) {
    const file = part === 'certificate' ? files.certificateFile : files.keyFile;
    super(`${file} is not ${expected}`);
    this.part = part;
    this.file = file;
    this.expected = expected;
  }
}

/**
 * Reads a certificate and its key, and makes sure that they belong together. One that has expired is taken: whether to go
 * on with it is not for us to say.
 *
 * @throws InvalidCertificateError
 */
export function readCertificate(files: CertificateFiles): Certificate {
  const certificatePem = readPemFile('certificate', files);
  const keyPem = readPemFile('key', files);
  const certificate = parseLeafCertificate(certificatePem, files);
  if (!certificate.checkPrivateKey(parsePrivateKey(keyPem, files))) {
    throw new InvalidCertificateError('key', files, `the private key of the certificate in ${files.certificateFile}`);
  }
  try {
    // The certificates behind the first one are judged here.
    createSecureContext({ cert: certificatePem, key: keyPem });
  } catch {
    throw new InvalidCertificateError('certificate', files, 'a certificate in PEM, followed by its chain');
  }
  return { ...files, certificatePem, keyPem, expiresAtMs: Date.parse(certificate.validTo) };
}

function readPemFile(part: 'certificate' | 'key', files: CertificateFiles): Buffer {
  const file = part === 'certificate' ? files.certificateFile : files.keyFile;
  try {
    if (statSync(file).size <= bounds.certificateFileBytesMax) return readFileSync(file);
  } catch (fault) {
    throw new InvalidCertificateError(
      part,
      files,
      `a file that can be read (${(fault as NodeJS.ErrnoException).code})`,
    );
  }
  throw new InvalidCertificateError(part, files, `a file of at most ${bounds.certificateFileBytesMax} bytes`);
}

function parseLeafCertificate(pem: Buffer, files: CertificateFiles): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new InvalidCertificateError('certificate', files, 'a certificate in PEM, followed by its chain');
  }
}

function parsePrivateKey(pem: Buffer, files: CertificateFiles): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new InvalidCertificateError('key', files, 'a private key in PEM without a passphrase');
  }
}

/** What became of reading the certificate's files again. */
export type CertificateReload =
  /** `recovered`: the reading before found a pair that cannot be used. */
  | { readonly ok: true; readonly changed: boolean; readonly recovered: boolean; readonly expiresAtMs: number }
  | { readonly ok: false; readonly fault: string };

interface CertificateStoreOptions {
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
    if (secondsUntilExpiry * 1000 < bounds.certificateExpiryWarningMs)
      this.#options.onExpiryWarning(secondsUntilExpiry);
  }
}
