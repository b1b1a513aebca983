import { parseBearerKey, hashApiKey } from '../../../src/access/api-key.ts';
import { keyFilePath } from '../../../src/access/key-file.ts';
import { noLimitOverrides } from '../../../src/access/key-limits.ts';
import { KeyRegistry } from '../../../src/access/key-register.ts';
import { SqliteKeyDirectory } from '../../../src/access/sqlite-key-directory.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { createOwnedFolder } from '../../target/owned-folder.ts';
import type { MicroBenchmark } from '../micro.ts';

const issuedKeyCount = 500;

export const apiKeyBenchmark: MicroBenchmark = {
  name: `access/api-key: hash a key and find it among ${issuedKeyCount}`,
  call: 'one Authorization header: key, hash, directory',
  prepare: async ({ folder }) => {
    const owned = await createOwnedFolder(folder, 'keys-');
    const path = keyFilePath(owned.path);
    const headers = issueApiKeys(path);
    const directory = new SqliteKeyDirectory({
      path,
      clock: systemClock,
      onReadError: (fault) => {
        throw fault;
      },
    });
    return {
      calls: issuedKeyCount,
      run: () => {
        let found = 0;
        for (const header of headers) {
          const key = parseBearerKey(header);
          if (key !== null && directory.findByHash(hashApiKey(key)) !== undefined) found++;
        }
        if (found !== issuedKeyCount) throw new Error('an issued key is not known');
        return found;
      },
      close: async () => {
        directory.close();
        await owned.remove();
      },
    };
  },
};

function issueApiKeys(path: string): string[] {
  const register = KeyRegistry.open(path);
  try {
    const wanted = {
      accountName: 'micro',
      vertical: personalLoans,
      mode: 'live',
      expiresAtMs: null,
      limits: noLimitOverrides,
    } as const;
    return Array.from({ length: issuedKeyCount }, () => `Bearer ${register.create(wanted, Date.now()).key}`);
  } finally {
    register.close();
  }
}
