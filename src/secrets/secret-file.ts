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

/** 32 bytes as hexadecimal digits. */
const keySchema = Type.String({ pattern: '^[0-9a-f]{64}$' });

const secretFileValidator = Compile(
  Type.Object({
    secrets: Type.Array(
      Type.Object({ number: Type.Integer({ minimum: 1, maximum: secretNumberMax }), hex: keySchema }),
      { minItems: 1, maxItems: secretNumberMax },
    ),
    unit_key: Type.Optional(keySchema),
  }),
);

/** Error codes of a secret file that the service can read, but not replace. */
const readOnlyCodes: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'];

/** Content of a secret file. `unitKey` is null if an earlier release created the file. */
interface SecretFileContent {
  readonly secrets: readonly Secret[];
  readonly unitKey: Buffer | null;
}

/** Error for a missing or invalid secret file. */
export class SecretFileError extends OperatorError {
  override readonly name = 'SecretFileError';
}

/**
 * Reads the secrets from the secret file (docs/contract.md#secrets). If the file is missing, creates it with one new secret and a unit
 * key. If the file is missing but the ledger is not empty, throws `SecretFileError`, because new secrets would invalidate the IDs in the
 * ledger.
 *
 * @param onCreate called before the file is created; an error that it throws prevents this
 */
export function openOrCreateSecretFile(
  path: string,
  hasHistory: boolean,
  onCreate: () => unknown = () => {},
): SecretSet {
  if (isMissing(path)) {
    if (hasHistory) {
      throw new SecretFileError(
        `${path} is missing, but this data folder was used before: restore the secret file (see SVC_SECRET_FILE), or start with an empty data folder`,
      );
    }
    onCreate();
    writeSecretFile(path, { secrets: [generateSecret(1)], unitKey: randomBytes(32) });
  }
  const { secrets, unitKey } = readSecretFile(path);
  return new SecretSet(secrets, unitKey);
}

/**
 * Adds a new secret to an existing secret file atomically. Returns the number of the new secret.
 *
 * @param onWrite called with the number before the file is replaced; an error that it throws prevents this
 */
export function addSecret(path: string, onWrite: (number: number) => unknown = () => {}): number {
  if (isMissing(path)) {
    throw new SecretFileError(`${path} is missing; the first start of the service creates it (see SVC_SECRET_FILE)`);
  }
  const { secrets, unitKey } = readSecretFile(path);
  const number = Math.max(...secrets.map((secret) => secret.number)) + 1;
  if (number > secretNumberMax) {
    throw new SecretFileError(`${path} contains secret number ${secretNumberMax}; no further secret can be added`);
  }
  onWrite(number);
  writeSecretFile(path, { secrets: [...secrets, generateSecret(number)], unitKey });
  return number;
}

/**
 * Adds a new unit key to a secret file that an earlier release created, and returns the key. Throws `SecretFileError` if the file is
 * read-only.
 *
 * @param onWrite called before the file is replaced; an error that it throws prevents this
 */
export function addUnitKey(path: string, onWrite: () => unknown = () => {}): Buffer {
  const { secrets } = readSecretFile(path);
  const unitKey = randomBytes(32);
  onWrite();
  try {
    writeSecretFile(path, { secrets, unitKey });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!readOnlyCodes.includes(code)) throw error;
    throw new SecretFileError(
      `${path} has no unit_key, and this process may not replace the file (${code}): add ${unitKeyMember} to it`,
      { cause: error },
    );
  }
  return unitKey;
}

/** Member of the secret file with the unit key, for messages. */
export const unitKeyMember = '"unit_key": "64 random lower-case hex digits"';

function generateSecret(number: number): Secret {
  return { number, bytes: randomBytes(32) };
}

/** Replaces the file that a path leads to. If the path is a link, replaces the file to which the link leads. */
function writeSecretFile(path: string, { secrets, unitKey }: SecretFileContent): void {
  const content = {
    secrets: secrets.map(({ number, bytes }) => ({ number, hex: bytes.toString('hex') })),
    unit_key: unitKey?.toString('hex'),
  };
  writeFileDurably(isMissing(path) ? path : realpathSync(path), `${JSON.stringify(content, null, 2)}\n`);
}

function readSecretFile(path: string): SecretFileContent {
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
      `${path} must contain {"secrets": [{"number": 1 to 255, "hex": 64 lower-case hex digits}, ...], "unit_key": 64 lower-case hex digits}`,
    );
  }
  const secrets = content.secrets.map(({ number, hex }) => ({ number, bytes: Buffer.from(hex, 'hex') }));
  if (new Set(secrets.map((secret) => secret.number)).size !== secrets.length) {
    throw new SecretFileError(`${path} contains a secret number twice`);
  }
  const { unit_key: unitKey } = content;
  return { secrets, unitKey: unitKey === undefined ? null : Buffer.from(unitKey, 'hex') };
}
