import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { validateWebOrigin } from '../../src/auth/web-origin.ts';
import { bounds } from '../../src/bounds.ts';

const scheme = fc.constantFrom('http', 'https');
const port = fc.option(fc.integer({ min: 0, max: 99_999 }), { nil: null });
const address = fc
  .tuple(
    scheme,
    fc.oneof(fc.domain(), fc.ipV4Extended(), fc.constantFrom('localhost', 'a_b.example', 'çelik.example')),
    port,
  )
  .map(([name, host, number]) => `${name}://${host}${number === null ? '' : `:${number}`}`);
/** URLs with a small change. Most are almost valid origins. */
const almostValid = fc
  .tuple(
    address,
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom('', '/', '.', ':', '*', ';', ',', ' ', '\n', '@', '?', '#', 'A', 'ß', "'", '0'),
  )
  .map(([text, random, deleted, inserted]) => {
    const index = random % (text.length + 1);
    return text.slice(0, index) + inserted + text.slice(index + deleted);
  });
const anyText = fc.oneof(address, almostValid, fc.webUrl(), fc.string({ unit: 'grapheme' }));

test('accepts only origins that are safe in an HTTP header and in a Content-Security-Policy', () => {
  let accepted = 0;
  fc.assert(
    fc.property(anyText, (text) => {
      if (validateWebOrigin(text) !== null) return;
      accepted++;
      assert.equal(new URL(text).origin, text);
      assert.match(text, /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/);
      assert(text.length <= bounds.originCharactersMax);
    }),
    { numRuns: 5_000 },
  );
  assert(accepted > 500, `only ${accepted} were accepted`);
});

test('accepts the origin of every URL with a host name or IPv4 address', () => {
  fc.assert(
    fc.property(
      fc.webUrl({ authoritySettings: { withIPv4: true, withPort: true }, withQueryParameters: true }),
      (url) => {
        const { origin } = new URL(url);
        fc.pre(origin.length <= bounds.originCharactersMax);
        assert.equal(validateWebOrigin(origin), null);
      },
    ),
  );
});

test('every suggested origin is valid', () => {
  let suggested = 0;
  fc.assert(
    fc.property(anyText, (text) => {
      const [, instead] = /^Use (.*), the origin/.exec(validateWebOrigin(text) ?? '') ?? [];
      if (instead === undefined) return;
      suggested++;
      assert.equal(validateWebOrigin(instead), null);
    }),
    { numRuns: 5_000 },
  );
  assert(suggested > 500, `only ${suggested} were suggested`);
});

test('accepts origins in the form in which browsers send them', () => {
  for (const origin of [
    'https://shop.example',
    'http://127.0.0.1:3000',
    'http://localhost:3000',
    'https://shop.example:80',
    'http://shop.example:443',
    'https://xn--elik-zoa.example',
    'https://-my--app.preview.example',
    `https://${'x'.repeat(bounds.originCharactersMax - 'https://'.length)}`,
  ]) {
    assert.equal(validateWebOrigin(origin), null, origin);
  }
});

test('suggests the origin of a URL or host name', () => {
  const suggestions: Readonly<Record<string, readonly string[]>> = {
    'https://shop.example': [
      'https://shop.example/checkout?step=1#pay',
      'https://shop.example/*',
      'HTTPS://Shop.example',
      'https://shop.example:443',
      'https://shop.example:',
      ' https://shop.example',
      'https://user:secret@shop.example',
      'shop.example',
    ],
    'http://shop.example': ['http://shop.example:80'],
    'https://shop.example:8080': ['https://shop.example:08080'],
    'https://xn--elik-zoa.example': ['https://çelik.example'],
    'http://127.0.0.1': ['http://127.1'],
    'http://localhost:3000': ['localhost:3000'],
  };
  for (const [origin, texts] of Object.entries(suggestions)) {
    const message = `Use ${origin}, the origin that browsers send.`;
    for (const text of texts) assert.equal(validateWebOrigin(text), message, text);
  }
});

test('the error explains why a text is not a valid origin', () => {
  const tooLong = `https://${'x'.repeat(bounds.originCharactersMax - 'https://'.length + 1)}`;
  for (const [message, texts] of [
    [/^Wildcards/, ['*', 'https://*', 'https://*.shop.example']],
    [/IPv6/, ['http://[::1]:3000', 'https://my_app.preview.example']],
    [/at most 255/, [tooLong]],
    [/^An origin is/, ['', 'null', 'ftp://shop.example', 'file:///home/index.html', 'javascript:alert(1)']],
    [/^An origin is/, ['https://shop.example:65536', 'https://shop.example;script-src', 'https://shop.example,evil']],
    [/^An origin is/, ["https://shop.'none'", 'https://shop..example', 'https://shop.example.']],
  ] as const) {
    for (const text of texts) assert.match(validateWebOrigin(text) ?? '', message, text);
  }
});

test('the error for an invalid origin hides text that looks like an API key', () => {
  for (const text of [
    'svc_pl_live_0123456789abcdef',
    'svc_pl_live_0123456789abcdef/',
    'https://svc_pl_live_01234567',
    'key:svc_pl_live_01234567',
  ]) {
    assert(!validateWebOrigin(text)?.includes('0123'));
  }
});
