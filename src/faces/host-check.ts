import { isIP } from 'node:net';

/**
 * Returns a check of `Host` headers against DNS rebinding: a web page whose name is made to resolve to this machine reaches the
 * listener, but sends that name. The check accepts, whatever the port, an IP address, `localhost` and the names given, and an empty or
 * missing header, which no browser sends.
 *
 * @param names host names without ports, in any case
 */
export function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return known.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}
