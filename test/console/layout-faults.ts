import type { Page } from 'playwright-core';

/** Share of the width of a table region that the column with the names of the rows may take, so that figures are visible beside it. */
const nameColumnShareMax = 0.7;

/** Script that runs in the page, and returns its faults of layout in words. */
const findFaults = `(async () => {
  // Plots are drawn again after a change of their size.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const faults = [];
  const name = (element) => {
    const text = (element.innerText ?? element.textContent ?? '').replaceAll(/\\s+/g, ' ').trim().slice(0, 50);
    return element.tagName.toLowerCase() + (element.className ? '.' + String(element.className).replaceAll(' ', '.') : '') + ' "' + text + '"';
  };
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const isHidden = (element) =>
    element.closest('.visually-hidden, .skip, [aria-hidden="true"]:not(.table-caption), datalist') !== null ||
    !element.checkVisibility({ visibilityProperty: true });
  const scrollerOf = (element) => {
    for (let each = element.parentElement; each !== null; each = each.parentElement) if (scrolls(each)) return each;
    return null;
  };
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push('the page is ' + (root.scrollWidth - innerWidth) + ' px too wide');
  const main = document.querySelector('main');
  const style = getComputedStyle(main);
  const mainWidth = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const elements = [...document.body.querySelectorAll('*')].filter((element) => !isHidden(element));
  for (const element of elements) {
    const { overflowX, webkitLineClamp, display } = getComputedStyle(element);
    const isWider = element.scrollWidth > element.clientWidth + 1;
    if (/hidden|clip/.test(overflowX) && isWider && webkitLineClamp === 'none' && !element.closest('svg')) {
      faults.push('cut: ' + name(element));
    }
    if (overflowX === 'visible' && isWider && !/inline|table|contents/.test(display) && element.clientWidth > 0 && element.closest('svg, .plot-area') === null) {
      faults.push('content is wider than ' + name(element));
    }
    if (!scrolls(element) || !isWider) continue;
    const card = element.closest('.card') ?? element;
    if (element.matches('.table-scroll') && card.getBoundingClientRect().width < mainWidth - 1) {
      faults.push('table scrolls in a part of the page: ' + name(element));
    }
    const first = element.querySelector('tbody th');
    if (first !== null && first.getBoundingClientRect().width > ${nameColumnShareMax} * element.clientWidth) {
      faults.push('names of rows leave no room for figures: ' + name(element));
    }
  }
  // Lines of text that overlap.
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.data.trim() === '' || isHidden(parent) || parent.closest('option, textarea, script, svg') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { index } of node.data.matchAll(/(?<=\\S)\\u00a0(?=\\S)/g)) {
      const [before, after] = [document.createRange(), document.createRange()];
      before.setStart(node, index - 1);
      before.setEnd(node, index);
      after.setStart(node, index + 1);
      after.setEnd(node, index + 2);
      if (before.getBoundingClientRect().top !== after.getBoundingClientRect().top) faults.push('broken before a unit: ' + node.data.slice(Math.max(0, index - 20), index + 5));
    }
    for (const { left, right, top, bottom } of range.getClientRects()) lines.push({ left, right, top, bottom, node, scroller: scrollerOf(parent) });
  }
  lines.sort((one, other) => one.top - other.top);
  for (const [index, line] of lines.entries()) {
    for (let next = index + 1; next < lines.length && lines[next].top < line.bottom - 4; next++) {
      const other = lines[next];
      const isBeside = other.left > line.right - 2 || other.right < line.left + 2;
      if (isBeside || other.node === line.node || other.scroller !== line.scroller) continue;
      faults.push('overlap: "' + line.node.data.trim().slice(0, 40) + '" and "' + other.node.data.trim().slice(0, 40) + '"');
    }
  }
  return faults;
})()`;

/**
 * Returns what is wrong with the layout of a page at the present size of the window: content that is cut, wider than its box, or above other
 * content, and tables that scroll although the page has room for them.
 */
export function findLayoutFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(findFaults);
}
