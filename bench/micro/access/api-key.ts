import { bearerKey, hashApiKey } from '../../../src/access/api-key.ts';
import { keyFilePath } from '../../../src/access/key-file.ts';
import { noOwnLimits } from '../../../src/access/key-limits.ts';
import { KeyRegister } from '../../../src/access/key-register.ts';
import { SqliteKeyDirectory } from '../../../src/access/sqlite-key-directory.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { makeOwnedFolder } from '../../target/owned-folder.ts';
import type { Micro } from '../micro.ts';

const keyCount = 500;

export const apiKeyMicro: Micro = {
  name: `access/api-key: hash a key and find it among ${keyCount}`,
  call: 'one Authorization header: key, hash, directory',
  prepare: async ({ folder }) => {
    const owned = await makeOwnedFolder(folder, 'keys-');
    const path = keyFilePath(owned.path);
    const headers = issueKeys(path);
    const directory = new SqliteKeyDirectory({
      path,
      clock: systemClock,
      onFault: (fault) => {
        throw fault;
      },
    });
    return {
      calls: keyCount,
      run: () => {
        let found = 0;
        for (const header of headers) {
          const key = bearerKey(header);
          if (key !== null && directory.find(hashApiKey(key)) !== undefined) found++;
        }
        if (found !== keyCount) throw new Error('an issued key is not known');
        return found;
      },
      close: async () => {
        directory.close();
        await owned.remove();
      },
    };
  },
};

function issueKeys(path: string): string[] {
  const register = KeyRegister.open(path);
  try {
    const wanted = {
      accountName: 'micro',
      vertical: personalLoans,
      mode: 'live',
      expiresAtMs: null,
      limits: noOwnLimits,
    } as const;
    return Array.from({ length: keyCount }, () => `Bearer ${register.create(wanted, Date.now()).key}`);
  } finally {
    register.close();
  }
}
