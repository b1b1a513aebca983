/** Whether an `Accept` header asks for JSON rather than HTML, which is the answer to whoever does not say (D9). */
export function prefersJson(accept: string): boolean {
  let json = 0;
  let html = 0;
  for (const item of accept.split(',')) {
    const [type, ...parameters] = item.split(';');
    const weight = weightOf(parameters);
    const name = type!.trim().toLowerCase();
    if (name === 'application/json') json = weight;
    else if (name === 'text/html') html = weight;
  }
  return json > html;
}

function weightOf(parameters: readonly string[]): number {
  const quality = parameters.map((text) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(text)?.[1]).find(Boolean);
  return quality === undefined ? 1 : Number(quality);
}
