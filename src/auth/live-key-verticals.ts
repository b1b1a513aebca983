import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/**
 * Returns the verticals for which the key file contains live keys that are valid at `nowMs`, in Unix milliseconds. Returns no verticals if the
 * file does not exist or cannot be read. Reads a copy, because SQLite creates files beside a database that it opens.
 */
export function readLiveKeyVerticals(path: string, nowMs: number): readonly string[] {
  if (!existsSync(path)) return [];
  const folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  let database: Database.Database | undefined;
  try {
    const copy = join(folder, 'keys.sqlite');
    for (const ending of ['', '-wal']) if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending);
    database = new Database(copy, { fileMustExist: true });
    const sql = `SELECT DISTINCT vertical FROM keys
      WHERE mode = 'live' AND revoked IS NULL AND (expires IS NULL OR expires > ?) ORDER BY vertical`;
    return database.prepare<[number], string>(sql).pluck().all(nowMs);
  } catch {
    return [];
  } finally {
    database?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
