import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { drawBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { folderBytes } from './bytes-in.ts';
import type { HistoryFigure, HistoryMeasure, HistoryScale } from './history.ts';

/** How many sessions are being made at once, so that they share commits as they would under load. */
const concurrentCreators = 500;
const sessionsPerKey = 10_000;
const targetSeconds = 10;

/** Live sessions with their inputs, made through the functions of the service, then read back by another start on the same folder. */
export const restartMeasure: HistoryMeasure = {
  name: 'restart with live sessions',
  async measure({ folder, rounds, sessions }: HistoryScale): Promise<HistoryFigure[]> {
    const dataDir = await mkdtemp(join(folder, 'restart-'));
    const open = (): Promise<Marketplace> =>
      createMarketplace({ dataDir, maxSessions: sessions, durability: 'write', limits: { sessionsPerDay: sessionsPerKey } });
    try {
      await createSessions(await open(), sessions);
      const seconds: number[] = [];
      for (let round = 0; round < Math.min(3, rounds); round++) {
        const started = performance.now();
        const marketplace = await open();
        seconds.push((performance.now() - started) / 1_000);
        await marketplace.close();
      }
      const bytes = await Promise.all(['ledger', 'journal'].map((name) => folderBytes(join(dataDir, name))));
      const count = sessions.toLocaleString('en-US');
      return [
        {
          name: `start with ${count} live sessions and their inputs`,
          value: `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`,
          beside: `at most ${targetSeconds} s for a million`,
        },
        {
          name: 'ledger and journal for each of them',
          value: bytes.map((each) => `${Math.round(each / sessions)} bytes`).join(' and '),
          beside: '-',
        },
      ];
    } finally {
      await rm(dataDir, { recursive: true });
    }
  },
};

async function createSessions(marketplace: Marketplace, sessions: number): Promise<void> {
  const random = seededRandom(3);
  const borrowers = Array.from({ length: 1_000 }, () => drawBorrower(random));
  const newKey = { account: 'restart', vertical: 'personal-loans', mode: 'live' } as const;
  const limits = { requestsPerMinute: 1_000_000 };
  const partners = Array.from({ length: Math.ceil(sessions / sessionsPerKey) }, () =>
    marketplace.partner(marketplace.keys.create({ ...newKey, limits }).key),
  );
  let made = 0;
  await Promise.all(
    Array.from({ length: concurrentCreators }, async () => {
      while (made < sessions) {
        const number = made++;
        const partner = partners[Math.floor(number / sessionsPerKey)]!;
        const session = await partner.createSession({ referrer_tag: 'restart', metadata: { page: number % 100 } });
        if (!session.ok) throw new Error(`no session: ${session.error.message}`);
        const fields = { ...borrowers[number % borrowers.length]! };
        const inputs = await partner.submitInputs({ sub_id: session.value.sub_id, fields });
        if (!inputs.ok) throw new Error(`no inputs: ${inputs.error.message}`);
      }
    }),
  );
  await marketplace.close();
}
