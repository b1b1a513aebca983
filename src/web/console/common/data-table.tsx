import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { type CsvValue, renderCsv } from './csv.ts';
import { copyText, downloadCsv } from './save.ts';

export interface Column<Row> {
  readonly header: string;
  /** What is shown in a cell. Texts of users are inserted as text. */
  readonly cell: (row: Row) => ComponentChildren;
  /** What stands in the CSV: the unrounded number or the whole text. A column without it is not in the CSV. */
  readonly value?: (row: Row) => CsvValue;
  /** Name of the CSV column. Default: the header. */
  readonly csvName?: string;
  /** Numbers are aligned at their ends. */
  readonly isNumber?: boolean;
  /** Whether the column is only in the CSV. */
  readonly isHidden?: boolean;
  /** Explanation below the header. */
  readonly note?: string;
}

/** Steps through pages of a table. A null says that there is no such page. */
export interface Paging {
  /** Text such as `Page 2`. */
  readonly label: string;
  readonly onPrevious: (() => void) | null;
  readonly onNext: (() => void) | null;
}

interface DataTableProps<Row> {
  readonly caption: string;
  /** Hides the caption from view, because a heading above the table says the same. */
  readonly isCaptionHidden?: boolean;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Name of the CSV file, without ending. */
  readonly csvName: string;
  readonly paging?: Paging;
  /** Shown instead of the rows if there are none. */
  readonly empty?: ComponentChildren;
  readonly foot?: ComponentChildren;
}

/** Table with a caption, aligned numbers, pages and CSV of the rows on the page. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, isCaptionHidden = false, columns, rows, rowKey, paging, empty, foot } = props;
  const captionId = useId();
  const visibleColumns = columns.filter(({ isHidden }) => isHidden !== true);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div class="table-block">
      {/* The caption of the table would scroll with the table, so the visible text stands above. */}
      {!isCaptionHidden && (
        <p class="table-caption" aria-hidden="true">
          {caption}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="table-scroll" aria-labelledby={captionId} tabIndex={0}>
        <table>
          <caption id={captionId} class="visually-hidden">
            {caption}
          </caption>
          <thead>
            <tr>
              {visibleColumns.map(({ header, note, isNumber }) => (
                <th key={header} scope="col" class={isNumber ? 'number' : undefined}>
                  {header}
                  {note !== undefined && <span class="note">{note}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>
                {visibleColumns.map(({ header, cell, isNumber }, index) =>
                  index === 0 ? (
                    <th key={header} scope="row">
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={header} class={isNumber ? 'number' : undefined}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {foot}
      <TableActions {...props} />
      {paging !== undefined && <PagingControls paging={paging} caption={caption} />}
    </div>
  );
}

function TableActions<Row>({ caption, columns, rows, csvName }: DataTableProps<Row>) {
  const csvColumns = columns.flatMap(({ header, csvName: name = header, value }) =>
    value === undefined ? [] : [{ name, value }],
  );
  const createCsv = () =>
    renderCsv(
      csvColumns.map(({ name }) => name),
      rows.map((row) => csvColumns.map(({ value }) => value(row))),
    );
  const download = () => downloadCsv(csvName, createCsv());
  return (
    <div class="actions">
      <CopyButton label="Copy as CSV" subject={caption} copy={() => copyText(createCsv())} download={download} />
      <button type="button" class="small text" onClick={download}>
        Download CSV<span class="visually-hidden">: {caption}</span>
      </button>
    </div>
  );
}

/** Step that the user has taken. The controls are replaced while the page is loaded, so the new ones get the focus back. */
let latestStep: { readonly caption: string; readonly button: 'previous' | 'next' } | null = null;

/**
 * Buttons that step through pages; nothing if there is only one page. Buttons stay focusable at the first and the last page, so that the keyboard user does not lose the place.
 */
export function PagingControls({
  paging: { label, onPrevious, onNext },
  caption,
}: {
  readonly paging: Paging;
  readonly caption: string;
}) {
  const controls = useRef<HTMLElement>(null);
  useEffect(() => {
    if (latestStep?.caption === caption && document.activeElement === document.body) {
      const index = latestStep.button === 'previous' ? 0 : 1;
      controls.current?.querySelectorAll('button')[index]?.focus({ preventScroll: true });
    }
    latestStep = null;
  }, [caption]);
  if (onPrevious === null && onNext === null) return null;
  const step = (button: 'previous' | 'next') => {
    latestStep = { caption, button };
    (button === 'previous' ? onPrevious : onNext)?.();
  };
  return (
    <nav class="paging" aria-label={`Pages: ${caption}`} ref={controls}>
      <button type="button" class="small quiet" aria-disabled={onPrevious === null} onClick={() => step('previous')}>
        Previous page
      </button>
      <span class="soft">{label}</span>
      <button type="button" class="small quiet" aria-disabled={onNext === null} onClick={() => step('next')}>
        Next page
      </button>
    </nav>
  );
}
