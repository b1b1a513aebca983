import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed certificate for `localhost` and 127.0.0.1 and its private key, both in PEM. */
interface SelfSignedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Encodes the certificate itself (RFC 5280, section 4.1), because some machines have no openssl command. */
export function createSelfSignedCertificate(
  commonName: string,
  expiresAtMs = Date.now() + 90 * dayMs,
): SelfSignedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = encodeSequence(encodeDer(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const name = encodeSequence(
    encodeDer(
      0x31,
      encodeSequence(encodeDer(0x06, Buffer.from('550403', 'hex')), encodeDer(0x0c, Buffer.from(commonName))),
    ),
  );
  const alternatives = encodeSequence(
    encodeDer(0x82, Buffer.from('localhost')),
    encodeDer(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const toSign = encodeSequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    encodeSequence(encodeUtcTime(expiresAtMs - 365 * dayMs), encodeUtcTime(expiresAtMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(
      0xa3,
      encodeSequence(encodeSequence(encodeDer(0x06, Buffer.from('551d11', 'hex')), encodeDer(0x04, alternatives))),
    ),
  );
  const signature = sign('sha256', toSign, privateKey);
  const whole = encodeSequence(toSign, ecdsaWithSha256, encodeDer(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  const certificate = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

/** Writes the certificate and the key to a folder. Returns the paths of the files. */
export function writeCertificate(folder: string, { certificate, key }: SelfSignedCertificate) {
  const files = { certificateFile: join(folder, 'certificate.pem'), keyFile: join(folder, 'key.pem') };
  writeFileSync(files.certificateFile, certificate);
  writeFileSync(files.keyFile, key, { mode: 0o600 });
  return files;
}

function encodeDer(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = length > 255 ? [0x82, length >> 8, length & 255] : [0x81, length];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

function encodeSequence(...parts: readonly Buffer[]): Buffer {
  return encodeDer(0x30, Buffer.concat(parts));
}

/** Encodes a time as UTCTime, the format for years before 2050. */
function encodeUtcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return encodeDer(0x17, Buffer.from(digits.slice(2)));
}
