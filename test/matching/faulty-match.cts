/** Entry point of matching threads that rank like `workers/match.cts`, and fail for requests with the dates of `faults`. */
const faults: Readonly<Record<number, () => void>> = {
  19700101: () => {
    for (;;);
  },
  19700102: () => {
    for (const kept: number[][] = []; ; ) kept.push(new Array(1_000).fill(0.5));
  },
};

module.exports = Promise.all([import('../../workers/match.ts'), import('../../src/matching/match-batch.ts')]).then(
  ([{ matchBatch }, { decodeMatchBatch }]) =>
    (task: Parameters<typeof matchBatch>[0]) => {
      for (const [, today] of decodeMatchBatch(task.batch).requests) faults[today]?.();
      return matchBatch(task);
    },
);
