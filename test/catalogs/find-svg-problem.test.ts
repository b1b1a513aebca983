import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { findSvgProblem } from '../../src/catalogs/find-svg-problem.ts';

const xmlns = 'xmlns="http://www.w3.org/2000/svg"';
const around = (inner: string) => `<svg ${xmlns}>${inner}</svg>`;

describe('accepts an SVG document that browsers show', () => {
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

describe('rejects an SVG document that browsers show as a broken image', () => {
  for (const [name, text, problem] of [
    ['nothing', '', 'has no svg element (line 1)'],
    ['words', 'not an image', 'has text outside its svg element (line 1)'],
    ['a web page', '<!doctype html><html></html>', 'has markup that is none, or declarations of its own (line 1)'],
    ['another root', `<g ${xmlns}></g>`, 'has no svg element of http://www.w3.org/2000/svg at its root (line 1)'],
    ['no namespace', '<svg></svg>', 'has no svg element of http://www.w3.org/2000/svg at its root (line 1)'],
    ['an end that is missing', around('<g>\n'), 'has an end tag where another is due (line 2)'],
    ['a text cut short', `<svg ${xmlns}>\n\n<g/>`, 'ends before its last element does (line 3)'],
    ['a tag cut short', `<svg ${xmlns}><g`, 'has a tag that is not well-formed (line 1)'],
    ['an attribute without quotes', around('<g id=a/>'), 'has a tag that is not well-formed (line 1)'],
    ['an attribute without a value', around('<g hidden/>'), 'has a tag that is not well-formed (line 1)'],
    ['attributes without a space between', around('<g a="1"b="2"/>'), 'has a tag that is not well-formed (line 1)'],
    ['an attribute twice', around('<g a="1" a="2"/>'), 'has an attribute twice in one tag (line 1)'],
    [
      'a prefix nobody declared',
      around('<use xlink:href="#a"/>'),
      'has a namespace prefix that is not declared (line 1)',
    ],
    [
      'a prefix declared elsewhere',
      around('<g xmlns:x="y"/><g x:a=""/>'),
      'has a namespace prefix that is not declared (line 1)',
    ],
    ['a second root', `${around('')}${around('')}`, 'has a second root element (line 1)'],
    ['text behind the root', `${around('')}x`, 'has text outside its svg element (line 1)'],
    [
      'a bare ampersand',
      around('<title>A & B</title>'),
      'has a reference to an entity that XML does not know (line 1)',
    ],
    [
      'an entity of HTML',
      around('<title>&nbsp;</title>'),
      'has a reference to an entity that XML does not know (line 1)',
    ],
    [
      'a reference to no character',
      around('<g id="&#0;"/>'),
      'has a reference to an entity that XML does not know (line 1)',
    ],
    [
      'two hyphens in a comment',
      around('<!-- a -- b -->'),
      'has a comment that does not end, or with -- inside (line 1)',
    ],
    ['a comment without an end', around('<!-- '), 'has a comment that does not end, or with -- inside (line 1)'],
    ['a CDATA section without an end', around('<![CDATA[ '), 'ends inside its markup (line 1)'],
    [
      'the end of a CDATA section alone',
      around(']]>'),
      'has the end of a CDATA section without its beginning (line 1)',
    ],
    [
      'a late declaration',
      `\n<?xml version="1.0"?>${around('')}`,
      'has an XML declaration that is not at its beginning (line 2)',
    ],
    [
      'entities of its own',
      `<!DOCTYPE svg [<!ENTITY a "b">]>${around('&a;')}`,
      'has markup that is none, or declarations of its own (line 1)',
    ],
    ['a control character', around('\u0001'), 'holds a character that XML does not know (line 1)'],
    ['a nesting without end', around('<g>'.repeat(20_000)), 'is nested more than 256 deep (line 1)'],
  ] as const) {
    test(name, () => assert.equal(findSvgProblem(text), problem));
  }
});

describe('namespaces', () => {
  const declarations = (count: number) => Array.from({ length: count }, (_, at) => ` xmlns:p${at}="n"`).join('');
  const most = bounds.logoNamespaceDeclarationsMax;

  test('limits the number of namespace declarations in all elements', () => {
    const tooMany = `declares more than ${most} namespaces (line 1)`;
    // One is the root's own.
    assert.equal(findSvgProblem(`<svg ${xmlns}${declarations(most - 1)}/>`), null);
    assert.equal(findSvgProblem(`<svg ${xmlns}${declarations(most)}/>`), tooMany);
    assert.equal(findSvgProblem(around('<g xmlns:x="y"/>'.repeat(most - 1))), null);
    assert.equal(findSvgProblem(around('<g xmlns:x="y"/>'.repeat(most))), tooMany);
  });

  test('does not copy namespaces for every child element', () => {
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

const undeclared = 'has a namespace prefix that is not declared (line 1)';

/** How many entries go into maps while this runs: what is copied, element by element. */
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
