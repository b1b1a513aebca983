import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { checkout } from '../docs/run-commands.ts';

interface Instruction {
  readonly keyword: string;
  readonly content: string;
}

const text = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
const manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

/** Instructions without comments, with continuation lines joined. */
const instructions: readonly Instruction[] = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [, keyword = '', content = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { keyword, content };
  });
const stageStarts = instructions.flatMap(({ keyword }, index) => (keyword === 'FROM' ? [index] : []));
const buildStage = instructions.slice(stageStarts[0], stageStarts[1]);
const finalStage = instructions.slice(stageStarts.at(-1));

function contentsOf(stage: readonly Instruction[], keyword: string): string[] {
  return stage.filter((instruction) => instruction.keyword === keyword).map(({ content }) => content);
}

/** Content of an instruction that the final stage has exactly once. */
function finalContent(keyword: string): string {
  const contents = contentsOf(finalStage, keyword);
  assert.equal(contents.length, 1, keyword);
  return contents[0]!;
}

test('the Dockerfile passes the linter', () => {
  const rules = `deprecatedMaintainer directiveCasing emptyContinuationLine instructionCasing instructionCmdMultiple
    instructionEntrypointMultiple instructionHealthcheckMultiple instructionJSONInSingleQuotes instructionWorkdirRelative`;
  const settings = Object.fromEntries(rules.split(/\s+/).map((rule) => [rule, ValidationSeverity.ERROR]));
  const diagnostics = validate(text, settings);
  assert.deepEqual(
    diagnostics.map(({ range, message }) => `line ${range.start.line + 1}: ${message}`),
    [],
  );
});

test('every stage uses the same slim Debian image, with a Node.js LTS version that has a uWebSockets.js build', () => {
  const [base = ''] = contentsOf(instructions, 'ARG').map((content) => content.replace('NODE_IMAGE=', ''));
  const [, major = ''] = /^node:(\d+)-trixie-slim$/.exec(base) ?? [];
  const packages = Object.keys(JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')).packages);
  assert.ok(packages.includes(`node_modules/@uwsjs/linux-x64-${major}`), base);
  assert.ok(packages.includes(`node_modules/@uwsjs/linux-arm64-${major}`), base);
  assert.equal(Number(major) % 2, 0);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile
  assert.deepEqual(contentsOf(instructions, 'FROM'), ['${NODE_IMAGE} AS build', '${NODE_IMAGE}']);
});

test('the image runs as a numeric user other than root', () => {
  assert.match(finalContent('USER'), /^[1-9]\d*:[1-9]\d*$/);
});

test('the entry point, command and health check use no shell, so that signals reach the server', () => {
  for (const content of [
    finalContent('ENTRYPOINT'),
    finalContent('CMD'),
    finalContent('HEALTHCHECK').replace(/^.*?CMD /, ''),
  ]) {
    assert.ok(Array.isArray(JSON.parse(content)), content);
  }
  assert.equal(finalContent('STOPSIGNAL'), 'SIGTERM');
});

test('the image has the data folder as its only volume, exposes only port 8080, and names the licence', () => {
  assert.match(finalContent('LABEL'), new RegExp(`image\\.licenses="${manifest.license}"`));
  assert.match(finalContent('ENV'), new RegExp(`\\bSVC_DATA_DIR=${finalContent('VOLUME')} `));
  assert.equal(finalContent('EXPOSE'), '8080');
  assert.doesNotMatch(finalContent('ENV'), /SVC_OPS_HOST/);
});

test('npm packages are installed from the lock file only, and their install scripts do not run', () => {
  const commands = contentsOf(instructions, 'RUN');
  const npmCommands = commands.filter((command) => command.startsWith('npm '));
  assert.ok(npmCommands.length > 0);
  for (const command of npmCommands) assert.match(command, /^npm (ci|prune) .*--ignore-scripts/);
  assert.ok(!commands.some((command) => /\b(curl|wget|sudo|apt|apt-get)\b/.test(command)));
  assert.deepEqual(contentsOf(instructions, 'ADD'), []);
});

test('make install-production runs the same commands as the Dockerfile build stage', () => {
  const makeOutput = execFileSync('make', ['-n', 'install-production'], { cwd: checkout, encoding: 'utf8' });
  const makeCommands = [...makeOutput.matchAll(/^bin\/with-node (.*?)( --loglevel=error)?$/gm)].map(
    ([, command]) => command,
  );
  assert.deepEqual(makeCommands, contentsOf(buildStage, 'RUN'));
});
