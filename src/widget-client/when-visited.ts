/**
 * Begins once somebody visits the page: a browser may prepare pages before anybody asks for them, and most are never
 * looked at, so they are no view.
 */
export function whenNotPrerendering(begin: () => void): void {
  // Not every browser does, and not every list of types knows.
  if ((document as { readonly prerendering?: boolean }).prerendering !== true) begin();
  else document.addEventListener('prerenderingchange', begin, { once: true });
}
