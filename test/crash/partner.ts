import type { Mode } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';

/** Who asks: an API key, made by the real command line. */
export interface Partner {
  readonly key: string;
  readonly mode: Mode;
  /** Sessions its key may create in a UTC day; null when so many that it does not matter. */
  readonly sessionsPerDay: number | null;
}

const plenty = 1_000_000;

/** Issues a key of one account, so that all partners of a mode see each other's sessions. Works on a running server's folder. */
export async function createPartner(
  dataDir: string,
  mode: Mode,
  sessionsPerDay: number | null = null,
): Promise<Partner> {
  const { code, stdout, stderr } = await runMarketplace(
    [
      'keys',
      'create',
      ...['--account', 'crash'],
      ...['--vertical', 'personal-loans'],
      ...['--mode', mode],
      ...['--requests-per-minute', String(plenty)],
      ...['--analytics-per-minute', String(plenty)],
      ...['--sessions-per-day', String(sessionsPerDay ?? plenty)],
      '--raw',
    ],
    { SVC_DATA_DIR: dataDir },
  );
  if (code !== 0) throw new Error(`keys create ended with ${code}: ${stderr}`);
  return { key: stdout.trim(), mode, sessionsPerDay };
}
