import type { Paging } from './data-table.tsx';
import type { Route } from './route.ts';
import { changeQuery } from './router.ts';

/** Cursors of earlier pages by the cursor of the next page. The cursor of a first page is empty. */
const earlierCursors = new Map<string, string>();

/**
 * Returns the steps between pages that the API describes by cursors. The cursor and the number of the page stand in the address, so pages can
 * be linked, and `back` returns to the earlier page. From a linked page, `previous` leads to the first page.
 *
 * @param prefix start of the names of the parameters in the address, if a page has several lists
 */
export function createCursorPaging({ query }: Route, nextCursor: string | null, prefix = ''): Paging {
  const [cursorName, pageName] = [`${prefix}cursor`, `${prefix}page`];
  const cursor = query[cursorName] ?? '';
  const page = Math.max(1, Number.parseInt(query[pageName] ?? '1', 10) || 1);
  const earlier = earlierCursors.get(cursor);
  return {
    label: `Page ${page}`,
    onPrevious:
      cursor === ''
        ? null
        : () => changeQuery({ [cursorName]: earlier || null, [pageName]: earlier ? String(page - 1) : null }),
    onNext:
      nextCursor === null
        ? null
        : () => {
            earlierCursors.set(nextCursor, cursor);
            changeQuery({ [cursorName]: nextCursor, [pageName]: String(page + 1) });
          },
  };
}
