import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';

/** Absolute paths of a certificate and its key. Both files have the PEM format. */
export interface CertificateFiles {
  /** File of the certificate, followed by its chain. */
  readonly certificateFile: string;
  /** File of the private key of the certificate, without a passphrase. */
  readonly keyFile: string;
}

/** A valid certificate and its key, with the contents of their files. */
export interface Certificate extends CertificateFiles {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
  /** Expiry time in milliseconds since the Unix epoch. */
  readonly expiresAtMs: number;
}

/** Allowed values of the minimum TLS version. */
export const tlsVersions = ['1.2', '1.3'] as const;
export const tlsMinVersionDefault = tlsVersions[0];
export type TlsVersion = (typeof tlsVersions)[number];

/** Error for an invalid certificate or key. The message never contains text of the file. */
export class InvalidCertificateError extends Error {
  override readonly name = 'InvalidCertificateError';
  readonly part: 'certificate' | 'key';
  readonly file: string;
  /** Description of a valid file, as the end of the sentences "the file is not ..." and "it must be ...". */
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
 * Reads a certificate and its key, and verifies that they belong together. An expired certificate is accepted, because the operator
 * decides whether to use it.
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
    // Creating a TLS context validates the rest of the chain.
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
  } catch (error) {
    throw new InvalidCertificateError(
      part,
      files,
      `a file that can be read (${(error as NodeJS.ErrnoException).code})`,
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

export type CertificateReload =
  /** Result of a successful reload. `recovered` is true if the previous reload failed. */
  | { readonly ok: true; readonly changed: boolean; readonly recovered: boolean; readonly expiresAtMs: number }
  | { readonly ok: false; readonly error: string };

interface CertificateStoreOptions {
  readonly files: CertificateFiles;
  readonly clock: Clock;
  /** Called when the service starts to use a certificate that expires soon or has expired, and then twice a day. */
  readonly onExpiryWarning: (secondsLeft: number) => void;
}

/** Stores the current certificate and reloads it on request. If the new certificate is invalid, the current one is unchanged. */
export class CertificateStore {
  readonly #options: CertificateStoreOptions;
  readonly #expiryCheck: NodeJS.Timeout;
  #current: Certificate;
  #onCertificateChange: (certificate: Certificate) => void = () => {};
  #lastReloadFailed = false;

  /** Reads the certificate files. Throws `InvalidCertificateError` if they are invalid. */
  constructor(options: CertificateStoreOptions) {
    this.#options = options;
    this.#current = readCertificate(options.files);
    this.#expiryCheck = setInterval(() => this.#checkExpiry(), bounds.certificateExpiryCheckIntervalMs);
    this.#checkExpiry();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Seconds until the certificate expires; negative after its expiry. */
  get secondsUntilExpiry(): number {
    return Math.floor((this.#current.expiresAtMs - this.#options.clock.wallMs()) / 1000);
  }

  get lastReloadFailed(): boolean {
    return this.#lastReloadFailed;
  }

  /** Sets the function that applies a new certificate. If the function throws, the current certificate is unchanged. */
  onChange(onCertificateChange: (certificate: Certificate) => void): void {
    this.#onCertificateChange = onCertificateChange;
  }

  reload(): CertificateReload {
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
