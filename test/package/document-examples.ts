import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './copy-checkout.ts';

/** Complete programs in a document: its unindented TypeScript blocks that import the package. */
export function examplesIn(document: string): string[] {
  const text = readFileSync(join(checkout, document), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map((match) => match[1]!)
    .filter((code) => code.includes("from 'svc-marketplace'"));
}
