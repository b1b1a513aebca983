import type { Page } from 'playwright-core';

/** What a page shows, with single spaces. Parts without a digit are included in tables and lists, and left out elsewhere. */
export interface PageContent {
  /** Rows of each table by its caption. A row has a text for each header. */
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  /** Values of the lists of figures, by label. */
  readonly figures: Readonly<Record<string, string>>;
  /** Values of the fields of forms: `label: value`. */
  readonly fields: readonly string[];
  /** Other texts, in the order of the page, then labels for screen readers and tooltips. */
  readonly texts: readonly string[];
}

interface TextNode {
  readonly textContent: string;
  readonly parentElement: DomElement;
}

/** Members of a DOM element that this file uses. The tests are compiled without the types of the DOM. */
interface DomElement {
  readonly tagName: string;
  readonly innerText: string;
  readonly textContent: string;
  readonly firstChild: TextNode;
  readonly children: Iterable<DomElement>;
  readonly parentElement: DomElement;
  readonly ownerDocument: {
    createTreeWalker(root: DomElement, textNodes: 4): { nextNode(): TextNode | null };
    readonly defaultView: {
      readonly MutationObserver: new (listener: () => void) => { observe(target: DomElement, options: object): void };
      readonly navigator: { readonly clipboard: { readText(): Promise<string> } };
    };
  };
  readonly labels: readonly DomElement[];
  readonly value: string;
  readonly selectedOptions?: readonly DomElement[];
  checkVisibility(): boolean;
  click(): void;
  closest(selector: string): DomElement | null;
  getAttribute(name: string): string | null;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
}

/** Reads everything with a digit that the content of a page shows, and all tables and lists of figures. */
export function readPageContent(page: Page): Promise<PageContent> {
  return page.locator('main').evaluate((main: DomElement): PageContent => {
    const clean = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
    const hasDigit = (text: string) => /\d/.test(text);
    const labelNames = ['aria-label', 'aria-valuetext', 'title'];
    const listLabels = (element: DomElement) =>
      [element, ...element.querySelectorAll('[aria-label], [aria-valuetext], [title]')].flatMap((each) =>
        labelNames.flatMap((name) => {
          const text = each.getAttribute(name) ?? '';
          return hasDigit(text) ? [`[${clean(text)}]`] : [];
        }),
      );
    // biome-ignore lint/performance/useDomNodeTextContent: the text content has hidden texts, and no spaces between blocks
    const textOf = (element: DomElement) => clean([element.innerText, ...listLabels(element)].join(' '));
    const toRecord = <Value>(entries: readonly (readonly [string, Value])[]) => {
      const record = Object.fromEntries(entries) as Record<string, Value>;
      if (Object.keys(record).length < entries.length)
        throw new Error(`repeated label: ${entries.map(([key]) => key)}`);
      return record;
    };

    const readTable = (table: DomElement) => {
      const headers = [...table.querySelectorAll('thead th')].map(textOf);
      return [...table.querySelectorAll('tbody tr')].map((row) =>
        toRecord([...row.children].map((cell, index) => [headers[index]!, textOf(cell)] as const)),
      );
    };
    const tables = [...main.querySelectorAll('table')].map(
      (table) => [clean(table.querySelector('caption')!.textContent), readTable(table)] as const,
    );
    const figures = [...main.querySelectorAll('dl > div')].map(
      (entry) =>
        [clean(entry.querySelector('dt')!.firstChild.textContent), textOf(entry.querySelector('dd')!)] as const,
    );
    const fields = [...main.querySelectorAll('input:not([type=radio]), select, textarea')].flatMap((field) => {
      const value = field.selectedOptions?.[0]?.textContent ?? field.value;
      return hasDigit(value) ? [`${clean(field.labels[0]?.firstChild.textContent ?? '')}: ${clean(value)}`] : [];
    });

    // A text is the smallest block around a text node, so that a sentence with bold words stays one text.
    const blocks = 'p, li, h1, h2, h3, div, label, legend, pre, section, form';
    // The captions and labels of tables and plots repeat the caption, and the choices of a list are no figures.
    const readElsewhere =
      'table, dd, select, textarea, .table-caption, figcaption, :is(button, summary) .visually-hidden';
    const owners = new Set<Pick<DomElement, 'innerText'>>();
    const walker = main.ownerDocument.createTreeWalker(main, 4);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (parent.closest(readElsewhere) !== null || parent.tagName === 'DT' || !parent.checkVisibility()) continue;
      if (parent.closest('button, summary, label') !== null) {
        owners.add({ innerText: node.textContent });
        continue;
      }
      // A note below a label of a list of figures.
      const block = parent.closest('dt') === null ? parent.closest(blocks)! : parent;
      owners.add(block.querySelector(`${blocks}, dl, table`) === null ? block : parent);
    }
    const labels = [...main.querySelectorAll('[aria-label], [aria-valuetext], [title]')].flatMap((element) =>
      element.closest('table, dd') === null && element.checkVisibility()
        ? labelNames.flatMap((name) => element.getAttribute(name) ?? [])
        : [],
    );
    // biome-ignore lint/performance/useDomNodeTextContent: the text content has hidden texts, and no spaces between blocks
    const texts = [...[...owners].map(({ innerText }) => innerText), ...labels].map(clean).filter(hasDigit);
    return { tables: toRecord(tables), figures: toRecord(figures), fields, texts };
  });
}

/** Opens the parts of a page that can be opened, such as the tables of plots. */
export async function openDetails(page: Page): Promise<void> {
  const parts = page.locator('main details');
  await parts.evaluateAll((all) => {
    for (const details of all) details.open = true;
  });
  for (const plot of await page.locator('main .plot-table').all()) await plot.locator('table').waitFor();
}

/**
 * Copies each table and plot of a page as CSV. Returns the copies by caption. A caption can have several copies, because a plot and its
 * table share it.
 */
export function copyAllCsv(page: Page): Promise<Record<string, string[]>> {
  return page.locator('main').evaluate(async (main: DomElement) => {
    const { MutationObserver, navigator } = main.ownerDocument.defaultView;
    const label = 'Copy as CSV: ';
    const copies: Record<string, string[]> = {};
    const buttons = [...main.querySelectorAll('button')].filter(({ textContent }) => textContent.startsWith(label));
    for (const button of buttons) {
      const caption = button.textContent.slice(label.length);
      const changed = new Promise<void>((resolve) => {
        new MutationObserver(resolve).observe(button, { childList: true, subtree: true, characterData: true });
      });
      button.click();
      await changed;
      copies[caption] = [...(copies[caption] ?? []), await navigator.clipboard.readText()];
    }
    return copies;
  });
}

/** Makes canvases store the texts that they show, so that `readPlotLabels` can read them. Applies to the pages that are loaded afterwards. */
export async function recordPlotTexts(page: Page): Promise<void> {
  await page.addInitScript(`{
    const context = CanvasRenderingContext2D.prototype;
    const { fillText, clearRect } = context;
    context.clearRect = function (...area) {
      this.canvas.shownTexts = [];
      clearRect.apply(this, area);
    };
    context.fillText = function (text, x, y, ...rest) {
      this.canvas.shownTexts?.push({ text, x, y });
      fillText.call(this, text, x, y, ...rest);
    };
  }`);
}

/** Text that a plot shows, with its place on the canvas. */
interface PlotText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Returns the labels at the ends of the lines of each plot, from the top to the bottom, by the title of the plot. */
export function readPlotLabels(page: Page): Promise<Record<string, string[]>> {
  return page.locator('main').evaluate((main) => {
    const plots = [...main.querySelectorAll('figure.plot')].map((plot) => {
      const shown: PlotText[] = plot.querySelector('canvas').shownTexts;
      // Only these labels are beside the plot.
      const end = Math.max(...shown.map(({ x }) => x));
      const labels = shown.filter(({ x }) => x === end).sort((one, other) => one.y - other.y);
      return [plot.querySelector('figcaption').textContent, labels.map(({ text }) => text)];
    });
    return Object.fromEntries(plots);
  });
}
