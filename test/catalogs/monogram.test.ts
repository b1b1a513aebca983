import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findSvgProblem } from '../../src/catalogs/find-svg-problem.ts';
import { initials, monogramColors, renderMonogram } from '../../src/catalogs/read-logos.ts';

test('a monogram contains the first letters of the first two words, in upper case', () => {
  for (const [name, expected] of [
    ['Northfield Lending', 'NL'],
    ['Harbor & Pine Bank', 'HP'],
    ['ember', 'E'],
    ['élan crédit', 'ÉC'],
    ["O'Neill Trust", 'OT'],
    ['1st Federal', '1F'],
    ['ßank', 'S'],
    ['𝒜pex Loans', '𝒜L'],
    ['<b>old</b>', 'BO'],
    ['*** &', ''],
    ['', ''],
  ] as const) {
    assert.equal(initials(name), expected, name);
  }
});

test('escapes markup in the name of a monogram', () => {
  const svg = renderMonogram('</title><script>alert(1)</script> & "Sons"');
  assert.equal(findSvgProblem(svg), null);
  assert.ok(svg.includes('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; "Sons"</title>'));
  assert.deepEqual(
    [...svg.matchAll(/<([a-z]+)/g)].map(([, tag]) => tag),
    ['svg', 'title', 'rect', 'text'],
  );
});

test('renders every name as a well-formed image without scripts and links', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' })), (name) => {
      const svg = renderMonogram(name);
      assert.equal(findSvgProblem(svg), null);
      assert.doesNotMatch(svg.replace(/<title>.*?<\/title>/s, ''), /script|href|url\(|\son|&(?!amp;)/i);
    }),
  );
});

test('renders the same monogram for the same name, and different monograms for most other names', () => {
  assert.equal(renderMonogram('Plain Lender'), renderMonogram('Plain Lender'));
  const colours = new Set(
    Array.from({ length: 200 }, (_, at) => /rx="14" fill="(#\w+)"/.exec(renderMonogram(`L${at}`))?.[1]),
  );
  assert.deepEqual([...colours].sort(), [...monogramColors].sort());
});

test('a monogram has enough contrast on every background color', () => {
  for (const colour of monogramColors) {
    assert.ok(contrast(colour, '#ffffff') >= 4.5, colour);
    assert.ok(contrast(colour, '#111111') >= 3, colour);
  }
});

/** WCAG 2 contrast of two sRGB colours. */
function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
