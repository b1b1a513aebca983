/** Logs an integration error, which the partner's developer must fix, to the browser console. */
export function reportIntegrationError(message: string): void {
  console.error(`Offers widget: ${message}`);
}

/**
 * Passes the element that matches the selector to `use`, immediately or after the document has loaded. Logs an error if the loaded
 * document has no element that matches the selector, unless the page has removed the script element together with the container.
 */
export function whenContainerExists(
  selector: string,
  script: HTMLScriptElement,
  use: (container: Element) => void,
): void {
  const container = findContainer(selector);
  if (container !== null) use(container);
  else if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', () => whenContainerExists(selector, script, use), { once: true });
  } else if (script.isConnected) {
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

/**
 * Calls `begin` when the page is shown, immediately or after prerendering, because a prerendered page that the visitor never opens must not
 * count as a view.
 */
export function whenNotPrerendering(begin: () => void): void {
  // TypeScript's DOM types lack `document.prerendering`, and some browsers do not support this property.
  if ((document as { readonly prerendering?: boolean }).prerendering !== true) begin();
  else document.addEventListener('prerenderingchange', begin, { once: true });
}

/**
 * Posts the height of the content to the page that contains the iframe, immediately and after each change (docs/widget.md). A page of any
 * origin may receive the height of the widget, because the height contains no information about the visitor.
 */
export function reportHeight(content: Element, ended: AbortSignal): void {
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    parent.postMessage({ type: 'svc-offers-height', height }, '*');
  });
  observer.observe(content);
  ended.addEventListener('abort', () => observer.disconnect());
}
