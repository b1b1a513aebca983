/** Tells whoever built the page, who is the only one to look there, what to do. */
export function reportIntegrationError(what: string): void {
  console.error(`Offers widget: ${what}`);
}
