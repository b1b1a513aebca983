/** Makes something when it is first asked for, and never again: whoever asks gets the same, unless making it failed. */
export function memoizeAsync<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | null = null;
  return () => {
    made ??= make().catch((fault: unknown) => {
      made = null;
      throw fault;
    });
    return made;
  };
}
