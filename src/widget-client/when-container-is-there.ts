import { reportIntegrationError } from './complain.ts';

/** Hands over what the selector finds: now, or once the document is complete. Complains when there is nothing then. */
export function whenContainerExists(selector: string, use: (container: Element) => void): void {
  const container = findContainer(selector);
  if (container !== null) use(container);
  else if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', () => whenContainerExists(selector, use), { once: true });
  } else {
    reportIntegrationError(`nothing on this page is ${selector}; add <div id="offers"></div> and name it: data-mount="#offers".`);
  }
}

function findContainer(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}
