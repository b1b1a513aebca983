import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';

// Changes the database of the command line until the process is killed. Each transaction changes the same entries and `total.writes`. Sends the
// number of committed transactions.
const database = new Database(process.argv[2]);
// Moves each transaction to the database file at once.
database.pragma('wal_autocheckpoint = 1');
const update = database.prepare('UPDATE entry SET text = ? WHERE rowid % 500 = 0');
const count = database.prepare('UPDATE total SET writes = ?');
const write = database.transaction((transaction: number) => {
  update.run(`write ${transaction}`);
  count.run(transaction);
});
for (let transaction = 1; ; transaction++) {
  write.immediate(transaction);
  process.send!(transaction);
  await nextTurn();
}
