/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly number[];

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
/** Surface of the widget on which links have the least contrast (`--sunken`), in the light and in the dark theme. */
const linkSurfaces = { light: [240, 243, 247], dark: [36, 45, 57] } as const;
/** Minimum contrast of text (WCAG 2.2, success criterion 1.4.3). */
const textContrastMin = 4.5;

/** Parses a color with three or six hexadecimal digits, with or without `#`. Returns null for every other text. */
export function parseHexColor(text: string): Rgb | null {
  const hex = /^#?([\da-f]{3}|[\da-f]{6})$/i.exec(text)?.[1];
  if (hex === undefined) return null;
  const digits = hex.length / 3;
  return [0, 1, 2].map((at) => Number.parseInt(hex.substr(at * digits, digits).repeat(2 / digits), 16));
}

/** Returns the relative luminance of a color, from 0 to 1 (WCAG 2.2). */
function luminanceOf(color: Rgb): number {
  const [red, green, blue] = color.map((component) => {
    const share = component / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Returns the contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
function contrastOf(one: Rgb, other: Rgb): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function mixColors(color: Rgb, other: Rgb, share: number): Rgb {
  return color.map((component, at) => Math.round(component + (other[at]! - component) * share));
}

/**
 * Returns the values of the custom properties that depend on the accent. Every text has a contrast of at least 4.5: text on the accent is
 * white or black, and links have a darker or lighter accent if needed. Buttons have a border in the color of links, so pale buttons are visible.
 */
export function accentProperties(accent: Rgb, theme: 'light' | 'dark'): Readonly<Record<string, Rgb>> {
  const hasWhiteText = contrastOf(accent, white) >= textContrastMin;
  let link = accent;
  for (let share = 0; contrastOf(link, linkSurfaces[theme]) < textContrastMin; share += 0.05) {
    link = mixColors(accent, theme === 'dark' ? white : black, share);
  }
  return {
    '--accent': accent,
    '--accent-strong': mixColors(accent, hasWhiteText ? black : white, 0.2),
    '--on-accent': hasWhiteText ? white : black,
    '--link': link,
  };
}

/** Returns the approximate luminance and the opacity of a computed color, each from 0 to 1. */
export function parseComputedColor(text: string): readonly [luminance: number, opacity: number] {
  const [space = '', ...values] = text.replaceAll('none', '0').match(/^color\(\S+|^\w+|[\d.]+(?:e-\d+)?/g) ?? [];
  const [first = 1, second = 1, third = 1, opacity = 1] = values.map(Number);
  const luminance = space.startsWith('ok')
    ? first ** 3
    : space.startsWith('l')
      ? ((first + 16) / 116) ** 3
      : luminanceOf([first, second, third].map((value) => (space.startsWith('rgb') ? value : value * 255)));
  return [luminance, opacity];
}
