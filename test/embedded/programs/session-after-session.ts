import { createMarketplace } from '../../../src/index.ts';
import { writeLine } from '../../support/write-line.ts';

/**
 * Creates sessions until it is killed. Writes the API key on the first line, and then each returned sub_id on a separate
 * line: `node session-after-session.ts FOLDER DURABILITY`, with the durability `fsync` or `write`.
 */
const [, , dataDir = '', durability = 'fsync'] = process.argv;
const marketplace = await createMarketplace({ dataDir, durability: durability === 'write' ? 'write' : 'fsync' });
const unlimited = { requestsPerMinute: 1_000_000, sessionsPerDay: 1_000_000 };
const { key } = marketplace.keys.create({
  account: 'killed',
  vertical: 'personal-loans',
  mode: 'live',
  limits: unlimited,
});
const partner = marketplace.partner(key);
writeLine(key);
for (;;) {
  const group = Array.from({ length: 8 }, () => partner.createSession({ referrer_tag: 'killed' }));
  for (const session of await Promise.all(group)) {
    if (!session.ok) throw new Error(session.error.error);
    writeLine(session.value.sub_id);
  }
}
