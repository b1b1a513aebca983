import { openKeyFile } from '../../../src/auth/key-file.ts';

/** Opens a key file when a line arrives on standard input: `node open-key-file.ts FILE`. */
process.stdout.write('waiting\n');
process.stdin.once('data', () => {
  openKeyFile(process.argv[2]!, 600_000).close();
  process.exit(0);
});
