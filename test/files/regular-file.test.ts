import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { describe, type TestContext, test } from 'node:test';
import { OperatorToken, readOperatorToken } from '../../src/auth/operator-token.ts';
import { findCatalogFiles } from '../../src/catalogs/find-catalog-files.ts';
import { readCatalogText } from '../../src/catalogs/parse-catalog.ts';
import { readLogos } from '../../src/catalogs/read-logos.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { readRegularFile } from '../../src/files/regular-file.ts';
import { addSecret, openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { readCertificate } from '../../src/tls/certificate.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface FileType {
  readonly name: string;
  /** Creates a file of this type. The content is the content of a valid file. */
  readonly create: (path: string, content: string, t: TestContext) => void | Promise<void>;
  /** End of the message for a file of this type; null if the file is valid. */
  readonly problem: RegExp | null;
}

/** Writes the content to a file in another folder, as a target for links. */
function writeTarget(path: string, content: string): string {
  const folder = join(dirname(path), '..2026_11_27');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, basename(path)), content);
  return folder;
}

const nobodyId = 65_534;
const isRoot = process.geteuid?.() === 0;

const fileTypes: readonly FileType[] = [
  { name: 'a file', problem: null, create: (path, content) => writeFileSync(path, content) },
  {
    name: 'a link to a file',
    problem: null,
    create: (path, content) => symlinkSync(join(writeTarget(path, content), basename(path)), path),
  },
  {
    name: 'a link through the ..data link of a Kubernetes volume',
    problem: null,
    create(path, content) {
      symlinkSync(basename(writeTarget(path, content)), join(dirname(path), '..data'));
      symlinkSync(join('..data', basename(path)), path);
    },
  },
  {
    name: 'a link to a missing file',
    problem: /is a link to a file that does not exist/,
    create: (path) => symlinkSync('missing', path),
  },
  {
    name: 'a link to itself',
    problem: /is a link that leads to itself/,
    create: (path) => symlinkSync(basename(path), path),
  },
  { name: 'a folder', problem: /is a folder/, create: (path) => mkdirSync(path) },
  { name: 'a named pipe', problem: /is a named pipe/, create: (path) => void execFileSync('mkfifo', [path]) },
  { name: 'a device', problem: /is a device/, create: (path) => symlinkSync('/dev/zero', path) },
  {
    name: 'a socket',
    problem: /is a socket/,
    async create(path, _content, t) {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      runAfterTest(t, () => server.close());
    },
  },
  {
    name: 'a file without read permission',
    problem: /cannot be read \(EACCES\)/,
    create(path, content, t) {
      writeFileSync(path, content);
      chmodSync(path, 0);
      if (!isRoot) return;
      process.seteuid!(nobodyId);
      runAfterTest(t, () => process.seteuid!(0));
    },
  },
];

interface Reader {
  readonly name: string;
  readonly fileName: string;
  readonly content: string;
  /** Reads the file and returns the error message, or null. */
  readonly read: (path: string, t: TestContext) => string | null | Promise<string | null>;
}

function messageOf(action: () => unknown): string | null {
  try {
    action();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const { certificate, key } = createSelfSignedCertificate('one.test');
const secrets = JSON.stringify({ secrets: [{ number: 1, hex: '0'.repeat(64) }] });

const readers: readonly Reader[] = [
  {
    name: 'the catalog',
    fileName: 'catalog.json',
    content: '{}',
    read(path) {
      const result = readCatalogText(path);
      return result.ok ? null : result.problem;
    },
  },
  {
    name: 'a catalog in a folder with another catalog',
    fileName: 'b.json',
    content: '{"vertical":"banking"}',
    read(path) {
      writeFileSync(join(dirname(path), 'a.json'), '{"vertical":"personal-loans"}');
      const message = messageOf(() => assert.equal(findCatalogFiles(dirname(path), builtInVerticals).length, 2));
      assert.ok(message === null || message.includes(path), message!);
      return message;
    },
  },
  {
    name: 'a logo',
    fileName: 'a.svg',
    content: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    read: async (path) =>
      (await readLogos(dirname(path), [{ name: 'A', logo: basename(path) }])).problems[0]?.problem ?? null,
  },
  {
    name: 'the secret file at the start',
    fileName: 'secrets.json',
    content: secrets,
    read: (path) => messageOf(() => openOrCreateSecretFile(path, false)),
  },
  {
    name: 'the secret file when a secret is added',
    fileName: 'secrets.json',
    content: secrets,
    read(path) {
      const isLink = lstatSync(path).isSymbolicLink();
      const message = messageOf(() => addSecret(path));
      assert.equal(lstatSync(path).isSymbolicLink(), isLink);
      if (message === null) assert.equal(openOrCreateSecretFile(path, true).newest.number, 2);
      return message;
    },
  },
  {
    name: 'the operator token',
    fileName: 'operator-token',
    content: `svc_operator_${'0'.repeat(64)}\n`,
    read: (path) =>
      messageOf(() => new OperatorToken({ path, clock: systemClock })) ?? messageOf(() => readOperatorToken(path)),
  },
  ...(['certificateFile', 'keyFile'] as const).map((member): Reader => {
    const contents = { certificateFile: certificate, keyFile: key };
    const other = member === 'keyFile' ? 'certificateFile' : 'keyFile';
    return {
      name: `the TLS ${member}`,
      fileName: `${member}.pem`,
      content: contents[member],
      read(path, t) {
        const otherPath = join(temporaryFolder(t), 'other.pem');
        writeFileSync(otherPath, contents[other]);
        const files = { certificateFile: otherPath, keyFile: otherPath, [member]: path };
        return messageOf(() => readCertificate(files));
      },
    };
  }),
  {
    name: 'a file of confirmations',
    fileName: 'rows.csv',
    content: 'a,b\n1,2\n',
    async read(path) {
      if (process.geteuid!() === nobodyId)
        return messageOf(() => assert.ok(existsSync(path))) ?? 'cannot be read (EACCES)';
      const token = join(dirname(path), 'token');
      writeFileSync(token, `svc_operator_${'0'.repeat(64)}`);
      const args = ['confirm', path, '--url', 'http://127.0.0.1:9', '--token-file', token];
      const { stderr } = await runMarketplace(args);
      return stderr.includes('the first line must name the columns') ? null : stderr;
    },
  },
];

for (const { name, fileName, content, read } of readers) {
  describe(`reads ${name}, which may be a file or a link to a file, and nothing else`, () => {
    for (const type of fileTypes) {
      test(type.name, async (t) => {
        const folder = temporaryFolder(t);
        chmodSync(folder, 0o777);
        const path = join(folder, fileName);
        await type.create(path, content, t);
        const message = await read(path, t);
        if (type.problem === null) assert.equal(message, null);
        else assert.match(message ?? 'no error', type.problem);
      });
    }
  });
}

test('readRegularFile limits the number of bytes, also of a file whose size is unknown', () => {
  assert.deepEqual(readRegularFile('/proc/self/environ', 1), { ok: false, problem: 'is larger than 1 bytes' });
  const status = readRegularFile('/proc/self/status', 64 * 1024);
  assert.ok(status.ok && status.bytes.includes('Pid:'));
});
