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
