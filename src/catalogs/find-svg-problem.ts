import { bounds } from '../bounds.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';
const xmlName = '[\\p{L}_][\\p{L}\\p{M}\\p{N}_.·-]*(?::[\\p{L}_][\\p{L}\\p{M}\\p{N}_.·-]*)?';
const attributeValue = `"[^"<]*"|'[^'<]*'`;
const openTag = new RegExp(
  `<(${xmlName})((?:[ \\t\\r\\n]+${xmlName}[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:${attributeValue}))*)[ \\t\\r\\n]*(/?)>`,
  'uy',
);
const attribute = new RegExp(`(${xmlName})[ \\t\\r\\n]*=[ \\t\\r\\n]*(${attributeValue})`, 'gu');
const closeTag = new RegExp(`</(${xmlName})[ \\t\\r\\n]*>`, 'uy');
/** Document type declaration without an internal subset. An internal subset could declare entities that expand to any size. */
const documentType = /<!DOCTYPE[ \t\r\n][^[\]<>]*>/y;
const invalidXmlCharacter = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

interface OpenElement {
  readonly name: string;
  /** XML namespaces by prefix. The empty prefix stands for the default namespace. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/**
 * Returns the reason why browsers cannot show a text as an SVG image, with the line number; null for a valid image. The text must be
 * well-formed XML with an `svg` root element. Scripts are allowed, because browsers do not run scripts in an image and the response headers
 * of logos forbid scripts.
 */
export function findSvgProblem(text: string): string | null {
  const scan = new SvgParser(text);
  const problem = scan.parseDocument();
  return problem === null ? null : `${problem} (line ${text.slice(0, scan.offset).split('\n').length})`;
}

class SvgParser {
  offset = 0;
  readonly #text: string;
  readonly #open: OpenElement[] = [];
  #hasRoot = false;
  #namespaceCount = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.offset = 1;
  }

  parseDocument(): string | null {
    const invalidIndex = this.#text.search(invalidXmlCharacter);
    if (invalidIndex >= 0) {
      this.offset = invalidIndex;
      return 'contains a character that XML does not allow';
    }
    while (this.offset < this.#text.length) {
      const problem = this.#parseNextNode();
      if (problem !== null) return problem;
    }
    if (!this.#hasRoot) return 'has no svg element';
    return this.#open.length === 0 ? null : 'has an element without an end tag';
  }

  #parseNextNode(): string | null {
    const at = (start: string): boolean => this.#text.startsWith(start, this.offset);
    if (!at('<')) return this.#parseText();
    if (at('<!--')) return this.#parseComment();
    if (at('<![CDATA[')) return this.#open.length === 0 ? textOutsideRoot : this.#skipPast(']]>');
    if (at('<?')) return this.#parseProcessingInstruction();
    if (at('<!')) return this.#parseDocumentType();
    return at('</') ? this.#parseEndTag() : this.#parseStartTag();
  }

  #parseText(): string | null {
    const next = this.#text.indexOf('<', this.offset);
    const end = next < 0 ? this.#text.length : next;
    const text = this.#text.slice(this.offset, end);
    if (this.#open.length === 0 && /[^ \t\r\n]/.test(text)) return textOutsideRoot;
    if (text.includes(']]>')) return 'has the end of a CDATA section without its beginning';
    if (!hasOnlyKnownReferences(text)) return unknownReference;
    this.offset = end;
    return null;
  }

  #parseComment(): string | null {
    const end = this.#text.indexOf('--', this.offset + 4);
    if (end < 0 || this.#text[end + 2] !== '>') return 'has a comment that does not end, or with -- inside';
    this.offset = end + 3;
    return null;
  }

  #parseProcessingInstruction(): string | null {
    const declares = /^<\?xml[ \t\r\n?]/i.test(this.#text.slice(this.offset, this.offset + 6));
    const first = this.offset === 0 || (this.offset === 1 && this.#text.startsWith('\ufeff'));
    if (declares && !first) return 'has an XML declaration that is not at its beginning';
    return this.#skipPast('?>');
  }

  #parseDocumentType(): string | null {
    documentType.lastIndex = this.offset;
    if (this.#hasRoot || !documentType.test(this.#text)) return 'has invalid markup or an internal DTD subset';
    this.offset = documentType.lastIndex;
    return null;
  }

  #parseStartTag(): string | null {
    openTag.lastIndex = this.offset;
    const tag = openTag.exec(this.#text);
    if (tag === null) return 'has a tag that is not well-formed';
    const [, name, attributes, empty] = tag as unknown as [string, string, string, string];
    if (this.#open.length === 0 && this.#hasRoot) return 'has a second root element';
    if (this.#open.length >= bounds.logoElementDepthMax)
      return `is nested more than ${bounds.logoElementDepthMax} deep`;
    const prefixed = [name];
    const declared = new Map<string, string>();
    const seen = new Set<string>();
    for (const [, attributeName, quotedValue] of attributes.matchAll(attribute) as Iterable<[string, string, string]>) {
      if (seen.has(attributeName)) return 'has an attribute twice in one tag';
      if (!hasOnlyKnownReferences(quotedValue)) return unknownReference;
      seen.add(attributeName);
      if (attributeName === 'xmlns') declared.set('', quotedValue.slice(1, -1));
      else if (attributeName.startsWith('xmlns:')) declared.set(attributeName.slice(6), quotedValue.slice(1, -1));
      else if (attributeName.includes(':')) prefixed.push(attributeName);
    }
    this.#namespaceCount += declared.size;
    if (this.#namespaceCount > bounds.logoNamespaceDeclarationsMax) {
      return `declares more than ${bounds.logoNamespaceDeclarationsMax} namespaces`;
    }
    const inherited = this.#open.at(-1)?.namespaces ?? predeclaredPrefixes;
    // A tag without namespace declarations shares the map of its parent, because a copy for every tag would be slow.
    const namespaces = declared.size === 0 ? inherited : new Map([...inherited, ...declared]);
    if (!prefixed.every((one) => namespaces.has(prefixOf(one)))) return 'has a namespace prefix that is not declared';
    if (!this.#hasRoot && (localName(name) !== 'svg' || namespaces.get(prefixOf(name)) !== svgNamespace)) {
      return `has no svg element of ${svgNamespace} at its root`;
    }
    this.#hasRoot = true;
    if (empty === '') this.#open.push({ name, namespaces });
    this.offset = openTag.lastIndex;
    return null;
  }

  #parseEndTag(): string | null {
    closeTag.lastIndex = this.offset;
    const tag = closeTag.exec(this.#text);
    if (tag === null || this.#open.at(-1)?.name !== tag[1]) return 'has an end tag that does not match its start tag';
    this.#open.pop();
    this.offset = closeTag.lastIndex;
    return null;
  }

  #skipPast(mark: string): string | null {
    const end = this.#text.indexOf(mark, this.offset);
    if (end < 0) return 'ends inside its markup';
    this.offset = end + mark.length;
    return null;
  }
}

const textOutsideRoot = 'has text outside its svg element';
const unknownReference = 'has a reference to an unknown entity';
/** Prefixes that need no declaration: `xml`, and the empty prefix, because an element may have no namespace. */
const predeclaredPrefixes: ReadonlyMap<string, string> = new Map([
  ['', ''],
  ['xml', 'http://www.w3.org/XML/1998/namespace'],
]);

function prefixOf(name: string): string {
  return name.includes(':') ? name.slice(0, name.indexOf(':')) : '';
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function hasOnlyKnownReferences(text: string): boolean {
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    const [, word, decimal, hex] =
      /^&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/i.exec(text.slice(at, at + 12)) ?? [];
    if (word !== undefined) {
      if (word !== word.toLowerCase()) return false;
      continue;
    }
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? '', 16);
    if (!(code <= 0x10ffff) || invalidXmlCharacter.test(String.fromCodePoint(code))) return false;
  }
  return true;
}
