import { bounds } from '../bounds.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';
const name = '[\\p{L}_][\\p{L}\\p{M}\\p{N}_.·-]*(?::[\\p{L}_][\\p{L}\\p{M}\\p{N}_.·-]*)?';
const value = `"[^"<]*"|'[^'<]*'`;
const openTag = new RegExp(
  `<(${name})((?:[ \\t\\r\\n]+${name}[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:${value}))*)[ \\t\\r\\n]*(/?)>`,
  'uy',
);
const attribute = new RegExp(`(${name})[ \\t\\r\\n]*=[ \\t\\r\\n]*(${value})`, 'gu');
const closeTag = new RegExp(`</(${name})[ \\t\\r\\n]*>`, 'uy');
/** No internal part: what declares entities of its own can be blown up by them. */
const documentType = /<!DOCTYPE[ \t\r\n][^[\]<>]*>/y;
const noCharacter = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

interface OpenElement {
  readonly name: string;
  /** What each prefix stands for here; the empty one is the default. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/**
 * Why a text is no SVG document that browsers show, or null. It must be well-formed XML with an `svg` root: browsers show a
 * broken image for anything less. What it would do when run is not judged: in an image nothing runs, and the face that
 * sends it forbids the rest. The problem repeats nothing of the text, and says in which line it is.
 */
export function svgProblem(text: string): string | null {
  const scan = new SvgScan(text);
  const problem = scan.problem();
  return problem === null ? null : `${problem} (line ${text.slice(0, scan.at).split('\n').length})`;
}

class SvgScan {
  at = 0;
  readonly #text: string;
  readonly #open: OpenElement[] = [];
  #rooted = false;
  #declarations = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.at = 1;
  }

  problem(): string | null {
    const strange = this.#text.search(noCharacter);
    if (strange >= 0) {
      this.at = strange;
      return 'holds a character that XML does not know';
    }
    while (this.at < this.#text.length) {
      const problem = this.#part();
      if (problem !== null) return problem;
    }
    if (!this.#rooted) return 'has no svg element';
    return this.#open.length === 0 ? null : 'ends before its last element does';
  }

  #part(): string | null {
    const at = (start: string): boolean => this.#text.startsWith(start, this.at);
    if (!at('<')) return this.#characters();
    if (at('<!--')) return this.#comment();
    if (at('<![CDATA[')) return this.#open.length === 0 ? outside : this.#skipPast(']]>');
    if (at('<?')) return this.#instruction();
    if (at('<!')) return this.#documentType();
    return at('</') ? this.#close() : this.#element();
  }

  #characters(): string | null {
    const next = this.#text.indexOf('<', this.at);
    const end = next < 0 ? this.#text.length : next;
    const text = this.#text.slice(this.at, end);
    if (this.#open.length === 0 && /[^ \t\r\n]/.test(text)) return outside;
    if (text.includes(']]>')) return 'has the end of a CDATA section without its beginning';
    if (!referencesKnown(text)) return unknownReference;
    this.at = end;
    return null;
  }

  #comment(): string | null {
    const end = this.#text.indexOf('--', this.at + 4);
    if (end < 0 || this.#text[end + 2] !== '>') return 'has a comment that does not end, or with -- inside';
    this.at = end + 3;
    return null;
  }

  #instruction(): string | null {
    const declares = /^<\?xml[ \t\r\n?]/i.test(this.#text.slice(this.at, this.at + 6));
    const first = this.at === 0 || (this.at === 1 && this.#text.startsWith('\ufeff'));
    if (declares && !first) return 'has an XML declaration that is not at its beginning';
    return this.#skipPast('?>');
  }

  #documentType(): string | null {
    documentType.lastIndex = this.at;
    if (this.#rooted || !documentType.test(this.#text)) return 'has markup that is none, or declarations of its own';
    this.at = documentType.lastIndex;
    return null;
  }

  #element(): string | null {
    openTag.lastIndex = this.at;
    const tag = openTag.exec(this.#text);
    if (tag === null) return 'has a tag that is not well-formed';
    const [, name, attributes, empty] = tag as unknown as [string, string, string, string];
    if (this.#open.length === 0 && this.#rooted) return 'has a second root element';
    if (this.#open.length >= bounds.logoDepthMax) return `is nested more than ${bounds.logoDepthMax} deep`;
    const prefixed = [name];
    const declared = new Map<string, string>();
    const seen = new Set<string>();
    for (const [, attributeName, quoted] of attributes.matchAll(attribute) as Iterable<[string, string, string]>) {
      if (seen.has(attributeName)) return 'has an attribute twice in one tag';
      if (!referencesKnown(quoted)) return unknownReference;
      seen.add(attributeName);
      if (attributeName === 'xmlns') declared.set('', quoted.slice(1, -1));
      else if (attributeName.startsWith('xmlns:')) declared.set(attributeName.slice(6), quoted.slice(1, -1));
      else if (attributeName.includes(':')) prefixed.push(attributeName);
    }
    this.#declarations += declared.size;
    if (this.#declarations > bounds.logoNamespacesMax) {
      return `declares more than ${bounds.logoNamespacesMax} namespaces`;
    }
    const around = this.#open.at(-1)?.namespaces ?? knownPrefixes;
    // Only a tag that declares some gets a table of its own, so that tables cost what the bound on declarations lets them.
    const namespaces = declared.size === 0 ? around : new Map([...around, ...declared]);
    if (!prefixed.every((one) => namespaces.has(prefixOf(one)))) return 'has a namespace prefix that is not declared';
    if (!this.#rooted && (localName(name) !== 'svg' || namespaces.get(prefixOf(name)) !== svgNamespace)) {
      return `has no svg element of ${svgNamespace} at its root`;
    }
    this.#rooted = true;
    if (empty === '') this.#open.push({ name, namespaces });
    this.at = openTag.lastIndex;
    return null;
  }

  #close(): string | null {
    closeTag.lastIndex = this.at;
    const tag = closeTag.exec(this.#text);
    if (tag === null || this.#open.at(-1)?.name !== tag[1]) return 'has an end tag where another is due';
    this.#open.pop();
    this.at = closeTag.lastIndex;
    return null;
  }

  #skipPast(mark: string): string | null {
    const end = this.#text.indexOf(mark, this.at);
    if (end < 0) return 'ends inside its markup';
    this.at = end + mark.length;
    return null;
  }
}

const outside = 'has text outside its svg element';
const unknownReference = 'has a reference to an entity that XML does not know';
/** An element may have no namespace at all; `xml` is always declared. */
const knownPrefixes: ReadonlyMap<string, string> = new Map([
  ['', ''],
  ['xml', 'http://www.w3.org/XML/1998/namespace'],
]);

function prefixOf(name: string): string {
  return name.includes(':') ? name.slice(0, name.indexOf(':')) : '';
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function referencesKnown(text: string): boolean {
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    const [, word, decimal, hex] =
      /^&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/i.exec(text.slice(at, at + 12)) ?? [];
    if (word !== undefined) {
      if (word !== word.toLowerCase()) return false;
      continue;
    }
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? '', 16);
    if (!(code <= 0x10ffff) || noCharacter.test(String.fromCodePoint(code))) return false;
  }
  return true;
}
