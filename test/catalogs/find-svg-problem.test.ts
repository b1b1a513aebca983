import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { bounds } from '../../src/bounds.ts';
import { findSvgProblem } from '../../src/catalogs/find-svg-problem.ts';
import { logoFolder, renderMonogram } from '../../src/catalogs/read-logos.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { startChromium } from '../support/chromium.ts';

const xmlns = 'xmlns="http://www.w3.org/2000/svg"';
const around = (inner: string, attributes = '') => `<svg ${xmlns} width="8" height="8"${attributes}>${inner}</svg>`;
const empty = around('');
const w3cDtd = 'PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"';
const xlink = ' xmlns:xlink="http://www.w3.org/1999/xlink"';
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';

/** Images that are usable, and that Chromium shows. */
const usable = [
  empty,
  `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->\n<!DOCTYPE svg ${w3cDtd}>\n${around('<g/>')}\n<!-- end -->\n`,
  `<?xml version='1.0' standalone='no' ?>${empty}`,
  `<?xml version="1.0" encoding="iso-8859-1"?>${empty}`,
  `<!DOCTYPE svg>${empty}`,
  `<!DOCTYPE svg SYSTEM 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>${empty}`,
  `<svg\n ${xmlns}\n viewBox = '0 0 8 8'\r\n><path d="M0 0"\n/></svg >`,
  around('<title>A &amp; B &#233; &#x1F600; > \u{1f600} \u2028</title>'),
  around('<style><![CDATA[ rect > g { fill: red } ]]></style><style/>'),
  `<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><s:use xlink:href="#a" xml:space="preserve"/></s:svg>`,
  around('<use href=" #a "/><a xlink:href="#a"/><g fill="url(#a)" style="mask: url( \'#b\' )"/>', xlink),
  around(`<image href="${pixel}" width="8" height="8"/><style>g { fill: url(${pixel}) }</style>`),
  around('<style>@font-face { font-family: a; src: url(data:font/woff2;base64,AAAA) }</style>'),
  around('<metadata><r:RDF xmlns:r="r" r:about=""><r:li/></r:RDF></metadata>'),
  around('<i:grid xmlns:i="inkscape" i:path="C:\\logo.png url(x)" type="xygrid"/><?xpacket begin="x"?>'),
  around('<animate attributeName="opacity" values="0;1" dur="1s"/>'),
  around('<g xmlns:x="y"><g><g x:a=""/></g></g><g xmlns="" xmlns:xml="http://www.w3.org/XML/1998/namespace"/>'),
  around('<a.b-c_d\u00b7 \u{10000}="1"/>'),
  around('<g>'.repeat(bounds.logoElementDepthMax - 1) + '</g>'.repeat(bounds.logoElementDepthMax - 1)),
];

/** Texts that Chromium shows as a broken image. */
const broken = [
  '',
  ' ',
  'not an image',
  `${empty}x`,
  `x${empty}`,
  `${empty}${empty}`,
  `${empty}&#32;`,
  `${empty}<![CDATA[ ]]>`,
  `<?xml version="1.0"?>`,
  `<?xml encoding="UTF-8"?>${empty}`,
  `<?xml version="2.0"?>${empty}`,
  `<?xml version="1.0" standalone="maybe"?>${empty}`,
  `<?xml standalone="no" version="1.0"?>${empty}`,
  `\n<?xml version="1.0"?>${empty}`,
  `<?xml version="1.0"?><?xml version="1.0"?>${empty}`,
  `<?XML version="1.0"?>${empty}`,
  `<!doctype svg>${empty}`,
  `<!DOCTYPE>${empty}`,
  `<!DOCTYPE 1svg>${empty}`,
  `<!DOCTYPE svg x>${empty}`,
  `<!DOCTYPE svg PUBLIC "x">${empty}`,
  `<!DOCTYPE svg PUBLIC "{}" "http://www.w3.org/x">${empty}`,
  `<!DOCTYPE svg><!DOCTYPE svg>${empty}`,
  `${empty}<!DOCTYPE svg>`,
  `<html xmlns="http://www.w3.org/1999/xhtml">${empty}</html>`,
  '<!doctype html><html></html>',
  `<g ${xmlns}></g>`,
  `<SVG ${xmlns}/>`,
  '<svg></svg>',
  '<svg xmlns=" http://www.w3.org/2000/svg"/>',
  `<svg ${xmlns}><g/>`,
  `<svg ${xmlns}><g`,
  // One text of each kind of error that the XML parser finds.
  ...[
    '<g></h>',
    '<g hidden/>',
    '<g a="<"/>',
    '<g a="1" a="2"/>',
    '<g xmlns:a="x" xmlns:b="x" a:c="1" b:c="2"/>',
    '<g xmlns:a=""/>',
    '<use xlink:href="#a"/>',
    '&nbsp;',
    '&constructor;',
    '&#0;',
    '<!-- a -- b -->',
    ']]>',
    '<!ELEMENT a>',
    '<? a?>',
    '\u0001',
  ].map((inner) => around(inner)),
];

/** Images that Chromium shows, and that must be rejected: they run scripts, show other content, or could take too much time. */
const unsafe = [
  around('<script>alert(1)</script>'),
  around('<s:script xmlns:s="http://www.w3.org/2000/svg" href="data:text/javascript,1"/>'),
  around('<h:script xmlns:h="http://www.w3.org/1999/xhtml">1</h:script>'),
  around('<foreignObject/>'),
  around('<g onload="alert(1)"/>'),
  around('', ' onload="alert(1)"'),
  around('<img xmlns="http://www.w3.org/1999/xhtml" src="https://a.example/"/>'),
  around('<iframe xmlns="http://www.w3.org/1999/xhtml"/>'),
  around('<a href="javascript:alert(1)"/>'),
  around('<a href="&#106;avascript:alert(1)"/>'),
  around('<a xlink:href="https://a.example/"/>', xlink),
  around('<a y:href="https://a.example/" xmlns:y="http://www.w3.org/1999/xlink"/>'),
  around('<a href="#a" ping="https://a.example/"/>'),
  around('<use href="other.svg#a"/>'),
  around('<use href="data:image/svg+xml,x#a"/>'),
  around('<image href="//a.example/a.png"/>'),
  around('<image href="data:image/svg+xml;base64,AAAA"/>'),
  around('<use href="#a"/>', ' xml:base="https://a.example/"'),
  around('<set attributeName="href" to="javascript:alert(1)"/>'),
  around('<animate attributeName=" xlink:href" values="javascript:alert(1)"/>', xlink),
  around('<set attributeName="onclick" to="alert(1)"/>'),
  around('<set attributeName="fill" to="url(https://a.example/#a)"/>'),
  around('<g fill="url(https://a.example/#a)"/>'),
  around('<g style="fill: URL( &quot;//a.example/#a&quot; )"/>'),
  around('<g style="fill: u\\72 l(//a.example/#a)"/>'),
  around('<style>g::before { content: "url(#"; mask: url(//a.example/#a) }</style>'),
  around('<style>@import "https://a.example/a.css";</style>'),
  around('<style>@\\69mport "https://a.example/a.css";</style>'),
  around('<style>@im<!-- -->port "https://a.example/a.css";</style>'),
  around('<style>@im<g/>port "https://a.example/a.css";</style>'),
  around('<style>@im<![CDATA[port "https://a.example/a.css";]]></style>'),
  around('<style>svg { background: image-set("https://a.example/a.png" 1x) }</style>'),
  around('<style>@font-face { font-family: a; src: url(https://a.example/a.woff2) }</style>'),
  `<?xml-stylesheet href="https://a.example/a.css"?>${empty}`,
  `<!DOCTYPE svg SYSTEM "https://a.example/a.dtd">${empty}`,
  `<!DOCTYPE svg []>${empty}`,
  `<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${around('<title>&c;</title>')}`,
  `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${around('<title>&a;</title>')}`,
  `<?xml version="1.0" encoding="utf-16"?>${empty}`,
  around('<g>'.repeat(bounds.logoElementDepthMax) + '</g>'.repeat(bounds.logoElementDepthMax)),
];

describe('findSvgProblem', () => {
  let chromium: Browser;
  before(async () => {
    chromium = await startChromium();
  });
  after(() => chromium.close());

  /** Returns for each text whether Chromium shows the text in an `img` element. */
  async function areShown(texts: readonly string[]): Promise<boolean[]> {
    const page = await chromium.newPage();
    await page.setContent('<img>');
    return await page.locator('img').evaluate(
      async (image, urls) => {
        const shown: boolean[] = [];
        for (const url of urls) {
          image.src = url;
          shown.push(
            await image.decode().then(
              () => true,
              () => false,
            ),
          );
        }
        return shown;
      },
      texts.map((text) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`),
    );
  }

  for (const { title, texts, isShown, isUsable } of [
    { title: 'accepts images that Chromium shows', texts: usable, isShown: true, isUsable: true },
    { title: 'rejects texts that Chromium does not show', texts: broken, isShown: false, isUsable: false },
    { title: 'rejects scripts, event handlers and external references', texts: unsafe, isShown: true, isUsable: false },
  ]) {
    test(title, async () => {
      const shown = await areShown(texts);
      for (const [at, text] of texts.entries()) {
        assert.equal(shown[at], isShown, `shown: ${text}`);
        assert.equal(findSvgProblem(text) === null, isUsable, `${findSvgProblem(text)}: ${text}`);
      }
    });
  }

  test('Chromium shows all example logos and a monogram', async () => {
    const texts = [renderMonogram('A & B')];
    for (const source of builtInVerticals.listExampleCatalogs()) {
      if (!('file' in source)) continue;
      const { lenders } = JSON.parse(readFileSync(source.file, 'utf8')) as { lenders: { logo: string }[] };
      texts.push(...lenders.map(({ logo }) => readFileSync(`${logoFolder(source.file)}/${logo}`, 'utf8')));
    }
    assert.deepEqual(
      (await areShown(texts)).map((isShown, at) => (isShown ? findSvgProblem(texts[at]!) : texts[at])),
      texts.map(() => null),
    );
  });

  test('reports the first problem with its line', () => {
    for (const [text, problem] of [
      ['', 'is not well-formed XML: document must contain a root element (line 1)'],
      [`<svg ${xmlns}>\n\n<g/>`, 'is not well-formed XML: unclosed tag: svg (line 3)'],
      [around('\n&nbsp;\n<script/>'), 'is not well-formed XML: undefined entity (line 2)'],
      ['\n<svg/>', 'has no svg element of http://www.w3.org/2000/svg at its root (line 2)'],
      [around('\n<script/>&nbsp;'), 'contains the element script, which is not allowed (line 2)'],
      [around('<g onclick=""/>'), 'has the event handler onclick (line 1)'],
      [around('<g>'.repeat(20_000)), 'is nested more than 256 deep (line 1)'],
      [around('<use href="a"/>'), 'refers to another file or site (line 1)'],
      [
        `<!DOCTYPE svg []>${empty}`,
        'has an invalid DOCTYPE, an internal DTD subset, or a DTD outside of www.w3.org (line 1)',
      ],
    ] as const) {
      assert.equal(findSvgProblem(text), problem, text.slice(0, 100));
    }
    const long = findSvgProblem(around(`<g on${'a'.repeat(10_000)}=""/>`))!;
    assert.ok(long.length < bounds.catalogErrorCharactersShown + 20, long);
  });
});
