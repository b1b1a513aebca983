import process from 'node:process';
import type { ProgressStream } from './progress-bar.ts';

/** What a command draws its bar on: nothing with --json, with which errors alone go to standard error. */
export function progressStreamFor({ json }: { readonly json?: true }): ProgressStream {
  return json ? { write() {} } : process.stderr;
}
