/** How often what happened, for the summary of a run. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.#counts.set(what, this.count(what) + times);
  }

  count(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** One line for each, in the order of their names. */
  toString(): string {
    const lines = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `  ${what}: ${times}`);
    return lines.join('\n');
  }
}
