import { unwatchFile, watchFile } from 'node:fs';

/**
 * Looks at files every `intervalMs`, and calls `changed` once none of them has changed for `settleMs`: what belongs together is
 * seldom written in one moment. Returns what ends it.
 */
export function watchFiles(
  files: readonly string[],
  { intervalMs, settleMs }: { readonly intervalMs: number; readonly settleMs: number },
  changed: () => void,
): () => void {
  let settling: NodeJS.Timeout | undefined;
  const noticed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(changed, settleMs);
  };
  for (const file of files) watchFile(file, { interval: intervalMs }, noticed);
  return () => {
    for (const file of files) unwatchFile(file, noticed);
    clearTimeout(settling);
  };
}
