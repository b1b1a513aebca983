import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { writeFileDurably } from '../files/durable-files.ts';
import { isMissing, readRegularFile } from '../files/regular-file.ts';
import { type Secret, SecretSet } from './secret-set.ts';

/** Highest possible secret number. A token stores the number of its secret in one byte. */
const secretNumberMax = 255;

const secretFileValidator = Compile(
  Type.Object({
    secrets: Type.Array(
      Type.Object({
        number: Type.Integer({ minimum: 1, maximum: secretNumberMax }),
        hex: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      }),
      { minItems: 1, maxItems: secretNumberMax },
    ),
  }),
);

/** Error for a missing or invalid secret file. */
export class SecretFileError extends OperatorError {
  override readonly name = 'SecretFileError';
}

/**
 * Reads the secrets from the secret file (docs/contract.md#secrets). If the file is missing, creates it with one new secret. If the file is
 * missing but the ledger is not empty, throws `SecretFileError`, because new secrets would invalidate the IDs in the ledger.
 */
export function openOrCreateSecretFile(path: string, hasHistory: boolean): SecretSet {
  if (isMissing(path)) {
    if (hasHistory) {
      throw new SecretFileError(
        `${path} is missing, but this data folder was used before: restore the secret file (see SVC_SECRET_FILE), or start with an empty data folder`,
      );
    }
    writeSecretFile(path, [generateSecret(1)]);
  }
  return new SecretSet(readSecrets(path));
}

/** Adds a new secret to an existing secret file atomically. Returns the number of the new secret. */
export function addSecret(path: string): number {
  if (isMissing(path)) {
    throw new SecretFileError(`${path} is missing; the first start of the service creates it (see SVC_SECRET_FILE)`);
  }
  const secrets = readSecrets(path);
  const number = Math.max(...secrets.map((secret) => secret.number)) + 1;
  if (number > secretNumberMax) {
    throw new SecretFileError(`${path} contains secret number ${secretNumberMax}; no further secret can be added`);
  }
  // If the path is a link, the file that it leads to is replaced, not the link.
  writeSecretFile(realpathSync(path), [...secrets, generateSecret(number)]);
  return number;
}

function generateSecret(number: number): Secret {
  return { number, bytes: randomBytes(32) };
}

function writeSecretFile(path: string, secrets: readonly Secret[]): void {
  const content = { secrets: secrets.map(({ number, bytes }) => ({ number, hex: bytes.toString('hex') })) };
  writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`);
}

function readSecrets(path: string): Secret[] {
  const read = readRegularFile(path, bounds.secretFileBytesMax);
  if (!read.ok) throw new SecretFileError(`${path} ${read.problem} (see SVC_SECRET_FILE)`);
  let content: unknown;
  try {
    content = JSON.parse(read.bytes.toString());
  } catch {
    throw new SecretFileError(`${path} is not JSON`);
  }
  if (!secretFileValidator.Check(content)) {
    throw new SecretFileError(
      `${path} must contain {"secrets": [{"number": 1 to 255, "hex": 64 lower-case hex digits}, ...]}`,
    );
  }
  const secrets = content.secrets.map(({ number, hex }) => ({ number, bytes: Buffer.from(hex, 'hex') }));
  if (new Set(secrets.map((secret) => secret.number)).size !== secrets.length) {
    throw new SecretFileError(`${path} contains a secret number twice`);
  }
  return secrets;
}
