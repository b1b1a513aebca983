import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { copyCheckout } from './copy-checkout.ts';
import type { Image, Stage, Step } from './read-image.ts';
import { runToEnd } from './run-to-end.ts';

/** What a step leaves for the run of the image, and does nothing to its files. */
const forTheRun = new Set([
  'USER',
  'VOLUME',
  'ENV',
  'EXPOSE',
  'HEALTHCHECK',
  'STOPSIGNAL',
  'ENTRYPOINT',
  'CMD',
  'LABEL',
]);

/** The absolute paths that a command may write to. */
const ownPaths = /(?<=^|\s)\/(app|data|backup)\b/g;

export interface FollowedImage {
  /** What the image would have beside its base. */
  readonly folder: string;
  /** Commands that only root can carry out, where this is not root. */
  readonly skipped: readonly string[];
}

/** Carries out the steps of an image without Docker. A stage is a folder; what it starts from is taken to be like this machine. */
export async function followImage(image: Image, root: string): Promise<FollowedImage> {
  const context = join(root, 'context');
  makeContext(context);
  const places = new Map<string | null, string>([[null, context]]);
  const skipped: string[] = [];
  let folder = root;
  for (const [at, stage] of image.stages.entries()) {
    const name = stage.name ?? `stage-${at}`;
    folder = join(root, name);
    mkdirSync(folder);
    places.set(name, folder);
    skipped.push(...(await followStage(stage, folder, places)));
  }
  return { folder, skipped };
}

/** What Docker is sent of a clean clone: `.dockerignore` names what is not ignored. */
function makeContext(context: string): void {
  copyCheckout(context);
  const [all, ...lines] = readFileSync(join(context, '.dockerignore'), 'utf8').trimEnd().split('\n');
  assert.equal(all, '*');
  const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  for (const name of readdirSync(context)) {
    if (!sent.includes(name)) rmSync(join(context, name), { recursive: true });
  }
}

/** Gives the commands left out. */
async function followStage(
  stage: Stage,
  folder: string,
  places: ReadonlyMap<string | null, string>,
): Promise<string[]> {
  const skipped: string[] = [];
  let workFolder = folder;
  for (const step of stage.steps) {
    if (step.keyword === 'WORKDIR') {
      workFolder = join(folder, step.content);
      mkdirSync(workFolder, { recursive: true });
    } else if (step.keyword === 'COPY') {
      copy(step, folder, workFolder, places);
    } else if (step.keyword === 'RUN') {
      if (process.getuid?.() !== 0 && / -o /.test(step.content)) skipped.push(step.content);
      else await run(step, folder, workFolder);
    } else {
      assert.ok(forTheRun.has(step.keyword), `${step.keyword} is a step that can be followed`);
    }
  }
  return skipped;
}

async function run({ content }: Step, folder: string, workFolder: string): Promise<void> {
  const command = content.replaceAll(ownPaths, (path) => join(folder, path));
  // What npm's cache has is not fetched again, and a registry that failed is asked once more; the steps stay as they are.
  const once = () =>
    runToEnd('sh', ['-c', command], { folder: workFolder, env: { npm_config_prefer_offline: 'true' } });
  await (command.startsWith('npm ') ? once().catch(once) : once());
}

/** As Docker does: of a folder what is in it, and a file under its own name where the target ends with a slash. */
function copy(
  { content, from }: Step,
  folder: string,
  workFolder: string,
  places: ReadonlyMap<string | null, string>,
): void {
  const words = content.split(/\s+/);
  const to = words.pop()!;
  const target = join(to.startsWith('/') ? folder : workFolder, to);
  for (const source of words) {
    const path = join(places.get(from)!, source);
    const isFile = statSync(path).isFile();
    cpSync(path, isFile && to.endsWith('/') ? join(target, basename(source)) : target, {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}
