import { SaxesParser, type SaxesTagNS } from 'saxes';
import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, truncateText } from '../domain/text.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';
const htmlNamespace = 'http://www.w3.org/1999/xhtml';

/** Elements, in lower case, that run scripts or embed documents in some browser. */
const activeElements = new Set([
  'script',
  'foreignobject',
  'handler',
  'listener',
  'iframe',
  'embed',
  'object',
  'audio',
  'video',
  'canvas',
]);

/** Local names of the attributes, in lower case, whose value is a URL. */
const urlAttributes = new Set(['href', 'src', 'srcset', 'ping', 'action', 'formaction', 'poster', 'data']);

/** Document type declaration without an internal subset, which could declare entities, and without a DTD of another site. */
const documentType =
  /^[ \t\r\n]+[A-Za-z_][\w.-]*(?:[ \t\r\n]+(?:PUBLIC[ \t\r\n]+(?:"[\w \r\n()+,./:=?;!*#@$%'-]*"|'[\w \r\n()+,./:=?;!*#@$%-]*')|SYSTEM)[ \t\r\n]+(["'])https?:\/\/www\.w3\.org\/[\w./-]*\1)?[ \t\r\n]*$/;

/** UTF-8, and encodings that drawing programs declare. A file with only ASCII characters is the same in all of them. */
const asciiCompatibleEncoding = /^(?:utf-8|us-ascii|iso-8859-1|windows-125\d)$/i;

/** Image formats without scripts and links. */
const rasterImage = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;

/**
 * Returns the reason why a text cannot be used as an SVG image, with the line number; null for a usable image. The text must be well-formed
 * XML with an `svg` root element, because browsers show no other text as an image. Scripts, event handlers, embedded documents and references
 * to other files are rejected: browsers ignore them in an `img` element, but not if a visitor opens the image and a CDN has removed the
 * Content-Security-Policy.
 */
export function findSvgProblem(text: string): string | null {
  return new SvgCheck().parse(text);
}

class SvgCheck {
  readonly #parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  #problem: string | null = null;
  #hasRoot = false;
  #depth = 0;
  /** Text of the current `style` element; null outside of `style` elements. */
  #styleSheet: string | null = null;

  parse(text: string): string | null {
    const parser = this.#parser;
    parser.on('error', ({ message }) =>
      this.#report(`is not well-formed XML: ${message.replace(/^\d+:\d+: |\.$/g, '')}`),
    );
    parser.on('xmldecl', ({ encoding = 'UTF-8' }) => {
      if (!asciiCompatibleEncoding.test(encoding)) this.#report('declares an encoding other than UTF-8');
    });
    parser.on('doctype', (declaration) => {
      if (!documentType.test(declaration))
        this.#report('has an invalid DOCTYPE, an internal DTD subset, or a DTD outside of www.w3.org');
    });
    parser.on('processinginstruction', ({ target }) => {
      if (target.toLowerCase() === 'xml-stylesheet') this.#report('refers to a style sheet');
    });
    parser.on('opentag', (tag) => this.#openTag(tag));
    parser.on('closetag', () => this.#closeTag());
    const addText = (part: string): void => {
      if (this.#styleSheet !== null) this.#styleSheet += part;
    };
    parser.on('text', addText);
    parser.on('cdata', addText);
    // The parser continues after a problem, so each piece of the text is parsed only if the pieces before have no problem.
    for (let at = 0; at < text.length && this.#problem === null; at += bounds.logoParseCharacters) {
      parser.write(text.slice(at, at + bounds.logoParseCharacters));
    }
    if (this.#problem === null) parser.close();
    return this.#problem;
  }

  /** Records the first problem. */
  #report(problem: string | null): void {
    if (problem === null || this.#problem !== null) return;
    const shown = truncateText(escapeInvisibleCharacters(problem), bounds.catalogErrorCharactersShown);
    this.#problem = `${shown} (line ${this.#parser.line})`;
  }

  #openTag({ local, uri, attributes }: SaxesTagNS): void {
    this.#depth++;
    if (this.#depth > bounds.logoElementDepthMax) {
      this.#report(`is nested more than ${bounds.logoElementDepthMax} deep`);
    }
    if (!this.#hasRoot && (local !== 'svg' || uri !== svgNamespace)) {
      this.#report(`has no svg element of ${svgNamespace} at its root`);
    }
    this.#hasRoot = true;
    const element = local.toLowerCase();
    if (activeElements.has(element) || uri === htmlNamespace)
      this.#report(`contains the element ${local}, which is not allowed`);
    if (this.#styleSheet !== null) this.#report('has an element inside of a style element');
    if (element === 'style') this.#styleSheet = '';
    for (const attribute of Object.values(attributes)) this.#report(findAttributeProblem(attribute, element));
  }

  #closeTag(): void {
    this.#depth--;
    if (this.#styleSheet !== null) this.#report(findStyleProblem(this.#styleSheet));
    this.#styleSheet = null;
  }
}

type SvgAttribute = SaxesTagNS['attributes'][string];

function findAttributeProblem({ name, prefix, local, value }: SvgAttribute, element: string): string | null {
  if (name === 'xmlns' || prefix === 'xmlns') {
    // The parser accepts a prefix without a namespace, and removes spaces that belong to the namespace.
    if (value === '' && prefix === 'xmlns') return 'declares a namespace prefix without a namespace';
    return value === value.trim() ? null : 'declares a namespace with spaces at its edges';
  }
  const attribute = local.toLowerCase();
  if (attribute.startsWith('on')) return `has the event handler ${local}`;
  if (prefix === 'xml' && attribute === 'base') return 'has the attribute xml:base, which is not allowed';
  if (urlAttributes.has(attribute)) {
    const isImage = element === 'image' || element === 'feimage';
    return isInternalUrl(value) || (isImage && rasterImage.test(value.trim())) ? null : externalReference;
  }
  if (attribute === 'attributename') {
    const animated = value.trim().toLowerCase().replace(/^.*:/, '');
    if (urlAttributes.has(animated) || animated === 'base' || animated.startsWith('on'))
      return `animates the attribute ${animated}`;
  }
  // Attributes of drawing programs have a namespace, and browsers ignore them.
  return prefix === '' ? findStyleProblem(value) : null;
}

const externalReference = 'refers to another file or site';

function isInternalUrl(url: string): boolean {
  return /^\s*(?:#|$)/.test(url);
}

/** Returns the problem of a style sheet, of a style attribute, or of another attribute, which may contain `url(...)`. */
function findStyleProblem(css: string): string | null {
  const text = decodeCssEscapes(css);
  if (/@import|\bimage-set\(/i.test(text)) return externalReference;
  // The lookahead also finds a `url(` after a `url(` that is only part of a string.
  for (const [, url] of text.matchAll(/url\(\s*["']?(?=([^)]{0,64}))/gi) as Iterable<[string, string]>) {
    if (!isInternalUrl(url) && !rasterImage.test(url) && !embeddedFont.test(url)) return externalReference;
  }
  return null;
}

const embeddedFont = /^data:(?:font\/|application\/(?:x-)?font-)[\w-]+[;,]/i;

/** Replaces CSS escapes such as `\75 rl` by their characters, because a URL can be hidden in escapes. */
function decodeCssEscapes(css: string): string {
  return css.replaceAll(
    /\\(?:([\da-f]{1,6})\s?|\r?\n|(.))/gi,
    (_, hex: string | undefined, character: string | undefined) => {
      if (hex === undefined) return character ?? '';
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}
