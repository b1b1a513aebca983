import { openKeyFile } from '../../../src/auth/key-file.ts';

/** Opens a key file as soon as it is told to, so that several can at once: `node open-key-file.ts FILE`, then a line. */
process.stdout.write('waiting\n');
process.stdin.once('data', () => {
  openKeyFile(process.argv[2]!, 5_000).close();
  process.exit(0);
});
