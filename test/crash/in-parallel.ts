/** Questions asked at a time. */
const asked = 8;

/** Does this with each item, a few of them at a time. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: asked }, worker));
}
