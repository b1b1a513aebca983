import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { readRegularFile } from '../files/regular-file.ts';

/** Absolute paths of the PEM files that contain a certificate and its private key. */
export interface CertificateFiles {
  /** PEM file that contains the certificate, followed by its chain. */
  readonly certificateFile: string;
  /** PEM file that contains the private key of the certificate, without a passphrase. */
  readonly keyFile: string;
}

/** A valid certificate and its private key, with the contents of both files. */
export interface Certificate extends CertificateFiles {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
  /** Expiry time of the certificate in Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Allowed values of the minimum TLS version. */
export const tlsVersions = ['1.2', '1.3'] as const;
export const tlsMinVersionDefault = tlsVersions[0];
export type TlsVersion = (typeof tlsVersions)[number];

/** Error for an invalid certificate or private key. The error message never contains text from the certificate or key file. */
export class InvalidCertificateError extends Error {
  override readonly name = 'InvalidCertificateError';
  readonly part: 'certificate' | 'key';
  readonly file: string;
  /** End of the error message "<file> is not ...": a description of a valid file, such as `a private key in PEM`. */
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
 * Reads a certificate and its private key, and verifies that the key belongs to the certificate. Accepts an expired certificate, because
 * the operator decides whether to use the certificate.
 *
 * @throws InvalidCertificateError if a file is unreadable or invalid
 */
export function readCertificate(files: CertificateFiles): Certificate {
  const certificatePem = readPemFile('certificate', files);
  const keyPem = readPemFile('key', files);
  const chain = 'a certificate in PEM, followed by its chain';
  const certificate = parsePemPart('certificate', files, chain, () => new X509Certificate(certificatePem));
  const key = parsePemPart('key', files, 'a private key in PEM without a passphrase', () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key)) {
    throw new InvalidCertificateError('key', files, `the private key of the certificate in ${files.certificateFile}`);
  }
  // `createSecureContext` throws if a later certificate in the file is invalid; `X509Certificate` checks only the first certificate.
  parsePemPart('certificate', files, chain, () => createSecureContext({ cert: certificatePem, key: keyPem }));
  return { ...files, certificatePem, keyPem, expiresAtMs: Date.parse(certificate.validTo) };
}

function readPemFile(part: 'certificate' | 'key', files: CertificateFiles): Buffer {
  const file = part === 'certificate' ? files.certificateFile : files.keyFile;
  const read = readRegularFile(file, bounds.certificateFileBytesMax);
  if (read.ok) return read.bytes;
  throw new InvalidCertificateError(part, files, `a file that can be read (it ${read.problem})`);
}

function parsePemPart<Part>(
  part: 'certificate' | 'key',
  files: CertificateFiles,
  expected: string,
  parse: () => Part,
): Part {
  try {
    return parse();
  } catch {
    throw new InvalidCertificateError(part, files, expected);
  }
}

export type CertificateReload =
  /** Result of a successful certificate reload. `recovered` is true if the previous reload failed. */
  | { readonly ok: true; readonly changed: boolean; readonly recovered: boolean; readonly expiresAtMs: number }
  | { readonly ok: false; readonly error: string };

interface CertificateStoreOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  /** Called when a certificate that expires soon or has expired is loaded, and then twice a day. */
  readonly onExpiryWarning: (secondsLeft: number) => void;
}

/** Keeps the current TLS certificate in memory. `reload` reads the files again; an invalid certificate does not replace the current one. */
export class CertificateStore {
  readonly #options: CertificateStoreOptions;
  readonly #expiryCheck: NodeJS.Timeout;
  #current: Certificate;
  #onCertificateChange: (certificate: Certificate) => void = () => {};
  #lastReloadFailed = false;

  /** Reads the certificate files. Throws `InvalidCertificateError` if a file is unreadable or invalid. */
  constructor(options: CertificateStoreOptions) {
    this.#options = options;
    this.#current = readCertificate(options.files);
    this.#expiryCheck = setInterval(() => this.#checkExpiry(), bounds.certificateExpiryCheckIntervalMs);
    this.#checkExpiry();
  }

  get currentCertificate(): Certificate {
    return this.#current;
  }

  /** Time in seconds until the certificate expires; negative if the certificate has expired. */
  get secondsUntilExpiry(): number {
    return Math.floor((this.#current.expiresAtMs - this.#options.clock.wallMs()) / 1000);
  }

  get lastReloadFailed(): boolean {
    return this.#lastReloadFailed;
  }

  /** Sets the callback that applies a new certificate to the listener. If applying a new certificate fails, the store keeps the old one. */
  onCertificateChange(onCertificateChange: (certificate: Certificate) => void): void {
    this.#onCertificateChange = onCertificateChange;
  }

  reloadCertificate(): CertificateReload {
    try {
      const certificate = readCertificate(this.#options.files);
      const { certificatePem, keyPem } = this.#current;
      const changed = !certificate.certificatePem.equals(certificatePem) || !certificate.keyPem.equals(keyPem);
      if (changed) {
        this.#onCertificateChange(certificate);
        this.#current = certificate;
        this.#checkExpiry();
      }
      const recovered = this.#lastReloadFailed;
      this.#lastReloadFailed = false;
      return { ok: true, changed, recovered, expiresAtMs: certificate.expiresAtMs };
    } catch (error) {
      if (!(error instanceof InvalidCertificateError)) throw error;
      this.#lastReloadFailed = true;
      return { ok: false, error: error.message };
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
