/** Creates the report of a result file: `node bench/report/main.ts FILE`. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseResult } from '../result/result-file.ts';
import { publishToReadme, writeReport } from './write-report.ts';

const usage = `Usage: bin/with-node node bench/report/main.ts [options] FILE

Writes an HTML report next to a result file of bench/results, and its tables to standard output.

  --publish    write the tables to bench/README.md
  --help       print this help
`;
const readme = fileURLToPath(new URL('../README.md', import.meta.url));

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { publish: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  const [file] = positionals;
  if (values.help) process.stdout.write(usage);
  else if (file === undefined || positionals.length > 1) throw new Error('expected one result file; see --help');
  else {
    const { markdown, htmlFile } = await writeReport(parseResult(await readFile(file, 'utf8')), dirname(file));
    process.stdout.write(markdown);
    process.stderr.write(`\nReport: ${htmlFile}\n`);
    if (values.publish) await publishToReadme(readme, markdown);
  }
} catch (error) {
  process.stderr.write(`report: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
