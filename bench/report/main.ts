/** Prints the tables of a result file: `node bench/report/main.ts FILE`. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseResult } from '../result/result-file.ts';
import { publishToReadme, toMarkdown } from './markdown.ts';

const usage = `Usage: bin/with-node node bench/report/main.ts [options] FILE

Prints the tables of a result file of bench/results.

  --publish    write the tables to bench/README.md
  --help       print this help
`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { publish: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  const [file] = positionals;
  if (values.help) process.stdout.write(usage);
  else if (file === undefined || positionals.length > 1) throw new Error('expected one result file; see --help');
  else {
    const markdown = toMarkdown(parseResult(await readFile(file, 'utf8')));
    process.stdout.write(markdown);
    if (values.publish) await publishToReadme(markdown);
  }
} catch (error) {
  process.stderr.write(`report: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
