/** Locks a folder, prints a line, and waits until it is killed. Argument: the folder. */
import { lockFolder } from '../../src/files/folder-lock.ts';

lockFolder(process.argv[2]!);
process.stdout.write('held\n');
setInterval(() => {}, 60_000);
