/**
 * Entry point of the threads of `PoolMatcher`. Piscina loads this file with `require`, and waits for the promise. `match.ts` is loaded with
 * `import`, because the process can crash if a thread is terminated while `require` loads an ES module.
 */
module.exports = import('./match.ts').then(({ matchBatch }) => matchBatch);
