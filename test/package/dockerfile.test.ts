import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { checkout } from './copy-checkout.ts';
import { readImage } from './read-image.ts';

const text = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
const image = readImage(text);
const last = image.stages.at(-1)!;
const manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

const only = (keyword: string) => {
  const found = last.steps.filter((step) => step.keyword === keyword);
  assert.equal(found.length, 1, keyword);
  return found[0]!.content;
};

test('a linter has nothing against the Dockerfile', () => {
  const { ERROR: error } = ValidationSeverity;
  const diagnostics = validate(text, {
    deprecatedMaintainer: error,
    directiveCasing: error,
    emptyContinuationLine: error,
    instructionCasing: error,
    instructionCmdMultiple: error,
    instructionEntrypointMultiple: error,
    instructionHealthcheckMultiple: error,
    instructionJSONInSingleQuotes: error,
    instructionWorkdirRelative: error,
  });
  assert.deepEqual(
    diagnostics.map(({ range, message }) => `line ${range.start.line + 1}: ${message}`),
    [],
  );
});

test('the linter does find faults', () => {
  assert.notDeepEqual(validate('FROM node:22\nCMD ["a"]\nCMD ["b"]\nEXPOSE x\n'), []);
});

test('every stage starts from one image, slim, of a Node.js with long-term support that has the fast HTTP engine on its Debian', () => {
  const [, major = ''] = /^node:(\d+)-trixie-slim$/.exec(image.base) ?? [];
  const packages = Object.keys(JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')).packages);
  assert.ok(packages.includes(`node_modules/@uwsjs/linux-x64-${major}`), image.base);
  assert.ok(packages.includes(`node_modules/@uwsjs/linux-arm64-${major}`), image.base);
  assert.equal(Number(major) % 2, 0);
  assert.deepEqual(new Set(image.stages.map(({ from }) => from)), new Set([image.base]));
});

test('the image is run by a user that is a number and not root', () => {
  assert.match(only('USER'), /^[1-9]\d*:[1-9]\d*$/);
});

test('what it runs, and how its health is asked for, needs no shell, which would keep signals to itself', () => {
  for (const content of [only('ENTRYPOINT'), only('CMD'), only('HEALTHCHECK').replace(/^CMD /, '')]) {
    assert.ok(Array.isArray(JSON.parse(content)), content);
  }
  assert.equal(only('STOPSIGNAL'), 'SIGTERM');
});

test('one volume takes what is written, and the operations port is not announced', () => {
  assert.equal(only('VOLUME'), last.env.SVC_DATA_DIR);
  assert.equal(only('EXPOSE'), '8080');
  assert.equal(last.env.SVC_OPS_HOST, undefined);
});

test('packages are installed from the lock file only, and none of their scripts is run', () => {
  const runs = image.stages.flatMap(({ steps }) => steps).filter(({ keyword }) => keyword === 'RUN');
  const npm = runs.map(({ content }) => content).filter((content) => content.startsWith('npm '));
  assert.ok(npm.length > 0);
  for (const command of npm) assert.match(command, /^npm (ci|prune) .*--ignore-scripts/);
  assert.ok(!runs.some(({ content }) => /\b(curl|wget|sudo|apt|apt-get)\b/.test(content)));
  assert.ok(!image.stages.some(({ steps }) => steps.some(({ keyword }) => keyword === 'ADD')));
});

test('make install-production installs a checkout with the same commands', () => {
  const commands = image.stages[0]!.steps.filter(({ keyword }) => keyword === 'RUN').map(({ content }) => content);
  const made = execFileSync('make', ['-n', 'install-production'], { cwd: checkout, encoding: 'utf8' });
  const carriedOut = [...made.matchAll(/^bin\/with-node (.*?)( --loglevel=error)?$/gm)].map(([, command]) => command);
  assert.deepEqual(carriedOut, commands);
});

test('the label names the licence of the package', () => {
  assert.match(only('LABEL'), new RegExp(`image\\.licenses="${manifest.license}"`));
});
