/** What is drawn; how, is the page's business. */
export type Plot = BarPlot | LinePlot;

/** A bar for each figure, from zero or, with a logarithmic scale, from the first power of ten below all of them. */
export interface BarPlot {
  readonly kind: 'bars';
  readonly title: string;
  readonly logarithmic: boolean;
  /** A value with a line of its own right across, e.g. 1 for ratios. */
  readonly reference: number | null;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  /** Which of several bars of a group; empty where each group has only one. */
  readonly label: string;
  /** 0 to 3: bars of the same meaning look the same in all groups. */
  readonly style: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** What the value should reach. */
  readonly target: number | null;
  /** The value as a text. */
  readonly text: string;
}

/** Lines over a common x axis. */
export interface LinePlot {
  readonly kind: 'lines';
  readonly title: string;
  readonly x: Axis & { readonly values: readonly number[] };
  readonly y: Axis;
  readonly lines: readonly Line[];
}

export interface Axis {
  readonly label: string;
  readonly logarithmic: boolean;
}

export interface Line {
  readonly label: string;
  /** `guide` is what the others are compared with; the numbers tell the others apart. */
  readonly style: 'guide' | 0 | 1 | 2 | 3;
  /** As many as there are x values; null leaves a gap. */
  readonly values: readonly (number | null)[];
}
