import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiKeyScope } from '../../src/auth/api-key.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import { writeFileDurably } from '../../src/files/durable-files.ts';

/** An API key of the demo. The data folder stores its text, because all data of the demo is invented. */
export interface DemoKey {
  /** Path segment of the vertical. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  readonly scope: ApiKeyScope;
  readonly id: string;
  readonly key: string;
}

/** What the data folder of the demo contains beside the files of a service: its keys, and the time at which the history ends. */
export interface DemoFile {
  readonly endMs: number;
  readonly keys: readonly DemoKey[];
}

function demoFilePath(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

export function writeDemoFile(dataDir: string, content: DemoFile): void {
  writeFileDurably(demoFilePath(dataDir), `${JSON.stringify(content, null, 2)}\n`);
}

/** Throws an error with one line if the folder is not one that `writeDemoHistory` of this release wrote. */
export function readDemoFile(dataDir: string): DemoFile {
  try {
    return JSON.parse(readFileSync(demoFilePath(dataDir), 'utf8')) as DemoFile;
  } catch {
    throw new Error(
      `${dataDir} exists, but is no demo history of this release; delete it, or name another folder: make demo-console DIR=folder`,
    );
  }
}
