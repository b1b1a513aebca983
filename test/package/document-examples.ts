import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './copy-checkout.ts';

/** The programs in a document that can stand for themselves: its TypeScript between fences at the margin that imports the package. */
export function examplesIn(document: string): string[] {
  const text = readFileSync(join(checkout, document), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map((match) => match[1]!)
    .filter((code) => code.includes("from 'svc-marketplace'"));
}
