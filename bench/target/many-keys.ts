import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { hashApiKey, generateApiKey } from '../../src/access/api-key.ts';
import { keyFilePath } from '../../src/access/key-file.ts';
import { noLimitOverrides, type KeyLimitOverrides } from '../../src/access/key-limits.ts';
import { KeyRegistry } from '../../src/access/key-register.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';

/**
 * Live keys of one account, so that each may use the sessions of all, in the key file of a server that does not run yet. The
 * first is issued as any key is, one synced transaction; the others are its copies but for what tells keys apart, all in
 * one transaction, since ten thousand syncs would take half a minute.
 */
export function createApiKeys(dataDir: string, count: number, limits: KeyLimitOverrides = noLimitOverrides): string[] {
  const register = KeyRegistry.open(keyFilePath(dataDir));
  const { keyPrefix } = personalLoans;
  const wanted = { accountName: 'bench', vertical: personalLoans, mode: 'live', expiresAtMs: null, limits } as const;
  const { key, issued } = register.create(wanted, Date.now());
  register.close();

  const database = new Database(keyFilePath(dataDir), { fileMustExist: true });
  try {
    const own = new Set(['number', 'id', 'hash']);
    const copied = (database.pragma('table_info(keys)') as readonly { name: string }[])
      .map(({ name }) => name)
      .filter((name) => !own.has(name))
      .join(', ');
    const copy = database.prepare<[string, Buffer, number]>(
      `INSERT INTO keys (id, hash, ${copied}) SELECT ?, ?, ${copied} FROM keys WHERE number = ?`,
    );
    const keys = [key];
    database.transaction(() => {
      while (keys.length < count) {
        const another = generateApiKey(keyPrefix, 'live');
        copy.run(`key_${randomBytes(6).toString('hex')}`, Buffer.from(hashApiKey(another), 'latin1'), issued.number);
        keys.push(another);
      }
    })();
    return keys;
  } finally {
    database.close();
  }
}
