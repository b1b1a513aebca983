/** Logs a problem that the developer of the page must fix. */
export function reportIntegrationError(message: string): void {
  console.error(`Offers widget: ${message}`);
}

/** Calls `use` with the element of the selector, now or when the document is complete. Logs an error if there is none. */
export function whenContainerExists(selector: string, use: (container: Element) => void): void {
  const container = findContainer(selector);
  if (container !== null) use(container);
  else if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', () => whenContainerExists(selector, use), { once: true });
  } else {
    reportIntegrationError(
      `no element matches data-mount="${selector}"; add <div id="offers"></div> and set data-mount="#offers".`,
    );
  }
}

function findContainer(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

/** Calls `begin` when the page is shown. A browser may prerender pages that the visitor never opens; those must not count as views. */
export function whenNotPrerendering(begin: () => void): void {
  // Not in the DOM types, and not in every browser.
  if ((document as { readonly prerendering?: boolean }).prerendering !== true) begin();
  else document.addEventListener('prerenderingchange', begin, { once: true });
}

/**
 * Posts the height of the content to the page around the iframe, now and after each change (docs/widget.md). Any page may receive it,
 * because a height says nothing about the visitor.
 */
export function reportHeight(content: Element): void {
  new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    parent.postMessage({ type: 'svc-offers-height', height }, '*');
  }).observe(content);
}
