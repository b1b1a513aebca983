import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';

/** Locks a SQLite file for writing, prints `locked` and unlocks it after 200 ms: `node lock-a-while.ts FILE`. */
const database = new Database(process.argv[2]);
database.exec('BEGIN IMMEDIATE');
writeSync(1, 'locked\n');
await sleep(200);
database.exec('COMMIT');
database.close();
