import type { TestContext } from 'node:test';

const stacks = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Has something undone after the test, the latest first: a service is closed before its folder goes. The runner's own
 * hooks run in the order in which they were given.
 */
export function afterwards(t: TestContext, undo: () => unknown): void {
  const known = stacks.get(t);
  if (known !== undefined) {
    known.push(undo);
    return;
  }
  const stack = [undo];
  stacks.set(t, stack);
  t.after(async () => {
    for (const step of stack.reverse()) await step();
  });
}
