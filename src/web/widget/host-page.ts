/** Tells whoever built the page, who is the only one to look there, what to do. */
export function reportIntegrationError(what: string): void {
  console.error(`Offers widget: ${what}`);
}

/** Hands over what the selector finds: now, or once the document is complete. Complains when there is nothing then. */
export function whenContainerExists(selector: string, use: (container: Element) => void): void {
  const container = findContainer(selector);
  if (container !== null) use(container);
  else if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', () => whenContainerExists(selector, use), { once: true });
  } else {
    reportIntegrationError(
      `nothing on this page is ${selector}; add <div id="offers"></div> and name it: data-mount="#offers".`,
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
 * Begins once somebody visits the page: a browser may prepare pages before anybody asks for them, and most are never
 * looked at, so they are no view.
 */
export function whenNotPrerendering(begin: () => void): void {
  // Not every browser does, and not every list of types knows.
  if ((document as { readonly prerendering?: boolean }).prerendering !== true) begin();
  else document.addEventListener('prerenderingchange', begin, { once: true });
}

/**
 * Tells the page around an iframe how high its content is, now and after each change, so that the page can size the iframe:
 * docs/widget.md documents the message. A height says nothing about the visitor, so any page may receive it.
 */
export function reportHeight(content: Element): void {
  new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    parent.postMessage({ type: 'svc-offers-height', height }, '*');
  }).observe(content);
}
