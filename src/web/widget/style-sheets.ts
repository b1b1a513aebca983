import { accentProperties, parseComputedColor, type Rgb } from './colors.ts';
import type { WidgetSettings } from './settings.ts';
import card from './styles/card.css';
import controls from './styles/controls.css';
import dark from './styles/dark.css';
import shell from './styles/shell.css';

/** Luminance below which white text has more contrast than black text. */
const darkLuminanceMax = 0.179;

/**
 * Creates the style sheets of the widget as `CSSStyleSheet` objects, because a Content-Security-Policy of the page may block `<style>`
 * elements and `style` attributes.
 */
export function createStyleSheets({ theme, accent }: WidgetSettings, container: Element): CSSStyleSheet[] {
  const darkMedia = theme === 'auto' ? darkMediaFor(container) : theme === 'dark' ? 'all' : 'not all';
  const sheets = [createStyleSheet(shell + controls + card), createStyleSheet(dark, darkMedia)];
  if (accent !== null) {
    sheets.push(createAccentSheet(accent, 'light', 'all'), createAccentSheet(accent, 'dark', darkMedia));
  }
  return sheets;
}

function createStyleSheet(text: string, media = 'all'): CSSStyleSheet {
  const sheet = new CSSStyleSheet({ media });
  sheet.replaceSync(text);
  return sheet;
}

/** The values of the properties are numbers, so no text of the page becomes CSS. */
function createAccentSheet(accent: Rgb, theme: 'light' | 'dark', media: string): CSSStyleSheet {
  const sheet = createStyleSheet('.panel{}', media);
  const { style } = sheet.cssRules[0] as CSSStyleRule;
  for (const [name, color] of Object.entries(accentProperties(accent, theme))) style.setProperty(name, `rgb(${color})`);
  return sheet;
}

/**
 * Returns the media query of the dark styles for the theme `auto`: dark if the background behind the container is dark. If nothing has a
 * background, the browser's own background counts, which is dark if the page has a dark `color-scheme` and the visitor prefers it.
 */
function darkMediaFor(container: Element): string {
  let luminance = 0;
  let transparency = 1;
  for (let node: Element | null | undefined = container; node && transparency > 0.01; node = parentOf(node)) {
    const { backgroundColor, backgroundImage, color } = getComputedStyle(node);
    let [layer, opacity] = parseComputedColor(backgroundColor);
    if (opacity === 0 && backgroundImage !== 'none') {
      // The colors of an image are unknown. Light text is on dark images.
      layer = parseComputedColor(color)[0] > 0.5 ? 0 : 1;
      opacity = 1;
    }
    luminance += layer * opacity * transparency;
    transparency *= 1 - opacity;
  }
  const schemes = colorSchemesOfPage();
  const preferred = '(prefers-color-scheme: dark)';
  const canvasMedia = !schemes.includes('dark') ? 'not all' : schemes.includes('light') ? preferred : 'all';
  if (transparency === 1) return canvasMedia;
  if (!matchMedia(canvasMedia).matches) luminance += transparency;
  return luminance < darkLuminanceMax ? 'all' : 'not all';
}

/** Returns the parent of an element in the page as it is rendered, with shadow trees. */
function parentOf(element: Element): Element | null | undefined {
  return element.assignedSlot ?? element.parentElement ?? (element.parentNode as ShadowRoot | null)?.host;
}

function colorSchemesOfPage(): string {
  const { colorScheme } = getComputedStyle(document.documentElement);
  if (colorScheme !== 'normal') return colorScheme;
  return document.querySelector<HTMLMetaElement>('meta[name="color-scheme" i]')?.content ?? '';
}
