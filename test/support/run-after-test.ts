import type { TestContext } from 'node:test';

const cleanupsByTest = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Registers a cleanup for the end of the test. The latest cleanup runs first, so a service closes before its folder is
 * deleted. The hooks of node:test run in the order of registration instead.
 */
export function runAfterTest(t: TestContext, undo: () => unknown): void {
  const known = cleanupsByTest.get(t);
  if (known !== undefined) {
    known.push(undo);
    return;
  }
  const stack = [undo];
  cleanupsByTest.set(t, stack);
  t.after(async () => {
    for (const step of stack.reverse()) await step();
  });
}
