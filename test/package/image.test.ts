import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { findFreePort } from '../../bench/target/free-port.ts';
import { HttpClient } from '../support/http-client.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { checkout } from './copy-checkout.ts';
import { type FollowedImage, followImage } from './follow-image.ts';
import { type Image, readImage } from './read-image.ts';
import { canContain, runImage } from './run-image.ts';
import { runToEnd } from './run-to-end.ts';
import { createSession, startServing } from './start-serving.ts';

let root: string;
let image: Image;
let followed: FollowedImage;
before(async () => {
  root = mkdtempSync(join(tmpdir(), 'marketplace-image-'));
  image = readImage(readFileSync(join(checkout, 'Dockerfile'), 'utf8'));
  followed = await followImage(image, root);
});
after(() => rmSync(root, { recursive: true, force: true }));

const lastOf = (keyword: string): string =>
  image.stages.at(-1)!.steps.findLast((step) => step.keyword === keyword)!.content;

test('all steps of the Dockerfile can be carried out', () => {
  const owners = process.getuid?.() === 0 ? [] : ['install -d -m 700 -o 1000 -g 1000 /data /backup'];
  assert.deepEqual(followed.skipped, owners);
});

test('the image holds the program and the packages it needs, neither sources nor tools', () => {
  const app = join(followed.folder, 'app');
  assert.deepEqual(readdirSync(app).sort(), ['LICENSE', 'bin', 'dist', 'node_modules', 'package.json']);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
  const isThere = (name: string) => existsSync(join(app, 'node_modules', name));
  assert.deepEqual(Object.keys(dependencies).filter(isThere), Object.keys(dependencies));
  assert.deepEqual(Object.keys(devDependencies).filter(isThere), []);
});

/** Its mounts and its backup are what an operator will copy. */
const guide = readFileSync(join(checkout, 'docs/container.md'), 'utf8');

test('the image serves from a read-only root as the first process and not as root, is healthy, is backed up, and drains at SIGTERM', async (t) => {
  const user = lastOf('USER');
  const places = [...guide.matchAll(/-v [\w-]+:(\/\w+)/g)].map(([, place = '']) => place);
  assert.deepEqual(places, ['/data', '/backup']);
  const volumes = new Map(places.map((place) => [place, join(root, `volume-of${place.replace('/', '-')}`)]));
  for (const volume of volumes.values()) {
    mkdirSync(volume, { mode: 0o700 });
    if (process.getuid?.() === 0) chownSync(volume, ...(user.split(':').map(Number) as [number, number]));
  }
  const { PATH, ...settings } = image.stages.at(-1)!.env;
  // The health check has to be told which.
  const env = { ...settings, SVC_PORT: '0', SVC_OPS_PORT: String(await findFreePort()) };
  const command = [...JSON.parse(lastOf('ENTRYPOINT')), ...JSON.parse(lastOf('CMD'))];
  const running = await runImage(t, {
    folder: followed.folder,
    volumes,
    command,
    workFolder: lastOf('WORKDIR'),
    user,
    env,
    programs: PATH!,
  });

  if (canContain()) {
    const of = (file: string) => readFileSync(`/proc/${running.serverPid}/${file}`, 'utf8');
    assert.match(of('status'), /^NSpid:\t\d+\t1$/m);
    assert.match(of('status'), /^Uid:\t1000\t1000\t1000\t1000$/m);
    assert.match(of('mountinfo'), /^\d+ \d+ \S+ \S+ \/ ro\b/m);
  } else {
    t.diagnostic('without root and namespaces it ran as an ordinary process');
  }
  const [, firstKeys = ''] = /`docker exec <container> (cat \/\S+)`/.exec(guide) ?? [];
  assert.equal(await createSession(running, await running.exec(firstKeys.split(' '))), 200);
  const [check, ...args] = JSON.parse(lastOf('HEALTHCHECK').replace(/^CMD /, ''));
  await runToEnd(check, args, { folder: root, env });

  const [, backup = '', target = ''] = /`docker exec <container> (marketplace backup (\/\S+))`/.exec(guide) ?? [];
  await running.exec(backup.split(' '));
  assert.match(
    await running.exec(['marketplace', 'log', 'verify', `${target}/ledger`]),
    /^records +1, (?:.|\n)*^state +whole$/m,
  );
  const copy = readdirSync(join(root, `volume-of${target.replace('/', '-')}`));
  for (const name of ['journal', 'keys.sqlite', 'ledger', 'operator-token', 'secrets.json'])
    assert.ok(copy.includes(name), name);

  assert.equal(await running.stop(running.serverPid), 0);
  await assert.rejects(runToEnd(check, args, { folder: root, env }));
  assert.ok(readdirSync(volumes.get('/data')!).includes('ledger'));
});

test('a checkout that is installed for production, as the first stage is, serves the API, the widget and the reference page', async (t) => {
  const cwd = join(root, 'build', 'app');
  assert.equal(existsSync(join(cwd, 'node_modules', 'typescript')), false);
  const env = { ...plainEnvironment(), SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_DATA_DIR: join(root, 'data-of-checkout') };
  const serving = await startServing(t, 'bin/marketplace', ['serve'], { cwd, env });
  const firstKeys = readFileSync(join(root, 'data-of-checkout', 'first-keys.txt'), 'utf8');
  assert.equal(await createSession(serving, firstKeys), 200);
  const http = new HttpClient(serving.port);
  for (const path of ['/w/widget.js', '/docs', '/docs/swagger-ui.js']) {
    assert.equal((await http.send({ path })).status, 200, path);
  }
  http.close();
  assert.equal(await serving.stop(), 0);
});
