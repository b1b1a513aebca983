/** Logs a problem that the developer of the page must fix. */
export function reportIntegrationError(message: string): void {
  console.error(`Offers widget: ${message}`);
}

/** Calls `use` with the element that matches the selector, now or once the document is loaded. Logs an error if there is no element. */
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

/** Calls `begin` when the visitor sees the page. A prerendered page that the visitor never opens must not count as a view. */
export function whenNotPrerendering(begin: () => void): void {
  // `prerendering` is not part of the DOM types, and some browsers do not support it.
  if ((document as { readonly prerendering?: boolean }).prerendering !== true) begin();
  else document.addEventListener('prerenderingchange', begin, { once: true });
}

/**
 * Posts the height of the content to the page around the iframe, now and after each change (docs/widget.md). Every page may receive the
 * height, because it contains no information about the visitor.
 */
export function reportHeight(content: Element): void {
  new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    parent.postMessage({ type: 'svc-offers-height', height }, '*');
  }).observe(content);
}
