/** Whether an `Accept-Encoding` header lists an encoding, and not with a weight of zero. */
export function acceptsEncoding(acceptEncoding: string, encoding: string): boolean {
  return acceptEncoding.split(',').some((item) => {
    const [name, ...parameters] = item.split(';');
    return name!.trim().toLowerCase() === encoding && !parameters.some((text) => /^\s*q=0(\.0*)?\s*$/i.test(text));
  });
}
