import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { findSvgProblem } from '../../src/catalogs/find-svg-problem.ts';

const xmlns = 'xmlns="http://www.w3.org/2000/svg"';
const around = (inner: string) => `<svg ${xmlns}>${inner}</svg>`;

describe('accepts an SVG document that browsers can display', () => {
  for (const [name, text] of [
    ['a root alone', `<svg ${xmlns}/>`],
    [
      'what an editor writes before the root',
      `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n${around('<g/>')}\n<!-- end -->\n`,
    ],
    [
      'quotes of both kinds, and line breaks in tags',
      `<svg\n ${xmlns}\n viewBox = '0 0 8 8'\n><path d="M0 0"\n/></svg >`,
    ],
    ['references that XML knows', around('<title>A &amp; B &#233; &#x1F600;</title>')],
    ['a style in a CDATA section', around('<style><![CDATA[ rect > g { fill: red } ]]></style>')],
    [
      'prefixes that are declared',
      `<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><s:use xlink:href="#a" xml:space="preserve"/></s:svg>`,
    ],
    ['another instruction than the declaration', `<?xml-stylesheet href="#a"?>${around('')}`],
  ] as const) {
    test(name, () => assert.equal(findSvgProblem(text), null));
  }
});

const badTag = 'has a tag that is not well-formed (line 1)';
const noRoot = 'has no svg element of http://www.w3.org/2000/svg at its root (line 1)';
const textOutside = 'has text outside its svg element (line 1)';
const undeclared = 'has a namespace prefix that is not declared (line 1)';
const unknownReference = 'has a reference to an unknown entity (line 1)';
const badComment = 'has a comment that does not end, or with -- inside (line 1)';
const badMarkup = 'has invalid markup or an internal DTD subset (line 1)';

test('rejects an SVG document that browsers display as a broken image', () => {
  for (const [text, problem] of [
    ['', 'has no svg element (line 1)'],
    ['not an image', textOutside],
    [`${around('')}x`, textOutside],
    ['<!doctype html><html></html>', badMarkup],
    [`<!DOCTYPE svg [<!ENTITY a "b">]>${around('&a;')}`, badMarkup],
    [`<g ${xmlns}></g>`, noRoot],
    ['<svg></svg>', noRoot],
    [`${around('')}${around('')}`, 'has a second root element (line 1)'],
    [around('<g>\n'), 'has an end tag that does not match its start tag (line 2)'],
    [`<svg ${xmlns}>\n\n<g/>`, 'has an element without an end tag (line 3)'],
    [`<svg ${xmlns}><g`, badTag],
    [around('<g id=a/>'), badTag],
    [around('<g hidden/>'), badTag],
    [around('<g a="1"b="2"/>'), badTag],
    [around('<g a="1" a="2"/>'), 'has an attribute twice in one tag (line 1)'],
    [around('<use xlink:href="#a"/>'), undeclared],
    [around('<g xmlns:x="y"/><g x:a=""/>'), undeclared],
    [around('<title>A & B</title>'), unknownReference],
    [around('<title>&nbsp;</title>'), unknownReference],
    [around('<g id="&#0;"/>'), unknownReference],
    [around('<!-- a -- b -->'), badComment],
    [around('<!-- '), badComment],
    [around('<![CDATA[ '), 'ends inside its markup (line 1)'],
    [around(']]>'), 'has the end of a CDATA section without its beginning (line 1)'],
    [`\n<?xml version="1.0"?>${around('')}`, 'has an XML declaration that is not at its beginning (line 2)'],
    [around('\u0001'), 'contains a character that XML does not allow (line 1)'],
    [around('<g>'.repeat(20_000)), 'is nested more than 256 deep (line 1)'],
  ] as const) {
    assert.equal(findSvgProblem(text), problem, text.slice(0, 100));
  }
});

describe('namespaces', () => {
  const declarations = (count: number) => Array.from({ length: count }, (_, at) => ` xmlns:p${at}="n"`).join('');
  const most = bounds.logoNamespaceDeclarationsMax;

  test('limits the total number of namespace declarations of all elements', () => {
    const tooMany = `declares more than ${most} namespaces (line 1)`;
    // One is the root's own.
    assert.equal(findSvgProblem(`<svg ${xmlns}${declarations(most - 1)}/>`), null);
    assert.equal(findSvgProblem(`<svg ${xmlns}${declarations(most)}/>`), tooMany);
    assert.equal(findSvgProblem(around('<g xmlns:x="y"/>'.repeat(most - 1))), null);
    assert.equal(findSvgProblem(around('<g xmlns:x="y"/>'.repeat(most))), tooMany);
  });

  test('namespaces of a parent element are not copied for each child element', () => {
    const text = `<svg ${xmlns}${declarations(most - 1)}>${'<a/>'.repeat(10_000)}</svg>`;
    assert.ok(text.length <= bounds.logoFileBytesMax);
    const written = entriesWritten(() => assert.equal(findSvgProblem(text), null));
    assert.ok(written >= most && written <= 4 * most, `${written} entries`);
  });

  test('elements inherit the namespaces of their parents', () => {
    assert.equal(findSvgProblem(around('<g xmlns:x="y"><g><g x:a=""/></g></g>')), null);
    assert.equal(findSvgProblem(around('<g xmlns:x="y"><g/></g><g x:a=""/>')), undeclared);
    assert.equal(
      findSvgProblem(around('<g xmlns:x="y"><g xmlns:z="y"><g x:a="" z:a=""/></g><g z:a=""/></g>')),
      undeclared,
    );
  });
});

/** Counts the entries that are added to maps during the call. */
function entriesWritten(run: () => void): number {
  const { set } = Map.prototype;
  let written = 0;
  Map.prototype.set = function (key, value) {
    written++;
    return set.call(this, key, value);
  };
  try {
    run();
  } finally {
    Map.prototype.set = set;
  }
  return written;
}
