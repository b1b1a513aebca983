const hostName = 'svc-offers-host';
const connectionEvent = 'svc-offers-connection';

/**
 * Creates the element that contains the widget, and calls `onChange` after the element was inserted into the document, removed from the
 * document or moved. `onChange` is called after the script of the page that made the change, so that the element is connected after a move.
 * A custom element needs no observer of the whole page, and notices every removal, also that of an ancestor or of a shadow tree.
 */
export function createWidgetHost(onChange: (isConnected: boolean) => void): HTMLElement {
  // Several copies of the script on a page, also of different versions, share one class.
  if (customElements.get(hostName) === undefined) {
    customElements.define(
      hostName,
      class extends HTMLElement {
        connectedCallback(): void {
          this.dispatchEvent(new Event(connectionEvent));
        }
        disconnectedCallback(): void {
          this.connectedCallback();
        }
      },
    );
  }
  const host = document.createElement(hostName);
  host.addEventListener(connectionEvent, () => queueMicrotask(() => onChange(host.isConnected)));
  return host;
}
