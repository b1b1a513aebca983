import { useEffect, useState } from 'preact/hooks';

const themes = ['light', 'dark', 'system'] as const;
export type Theme = (typeof themes)[number];

const storageName = 'svc_console_theme';
const darkQuery = '(prefers-color-scheme: dark)';
const changeEvent = 'console-theme-change';

/** Media query of the dark colors for each theme. */
const darkMedia: Readonly<Record<Theme, string>> = { light: 'not all', dark: 'all', system: darkQuery };

/** Returns the rules of the page's style sheets with dark colors. */
function findDarkRules(): CSSMediaRule[] {
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter(
      (rule): rule is CSSMediaRule =>
        rule instanceof CSSMediaRule && rule.conditionText.includes('prefers-color-scheme'),
    );
}

let darkRules: readonly CSSMediaRule[] = [];

function readStoredTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageName);
    return themes.find((theme) => theme === stored) ?? 'system';
  } catch {
    // Storage can be disabled.
    return 'system';
  }
}

let current: Theme = 'system';

/** Shows the theme that the user chose earlier. */
export function startTheme(): void {
  darkRules = findDarkRules();
  applyTheme(readStoredTheme());
  matchMedia(darkQuery).addEventListener('change', () => dispatchEvent(new Event(changeEvent)));
}

function applyTheme(theme: Theme): void {
  current = theme;
  for (const rule of darkRules) rule.media.mediaText = darkMedia[theme];
  dispatchEvent(new Event(changeEvent));
}

/** Shows a theme and remembers it in this browser. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(storageName, theme);
  } catch {
    // Without storage, the theme lasts until the page is closed.
  }
  applyTheme(theme);
}

/** Returns the theme that the user chose, and a number that changes whenever other colors are shown. */
export function useTheme(): { readonly theme: Theme; readonly colorsVersion: number } {
  const [colorsVersion, setColorsVersion] = useState(0);
  useEffect(() => {
    const update = () => setColorsVersion((version) => version + 1);
    addEventListener(changeEvent, update);
    return () => removeEventListener(changeEvent, update);
  }, []);
  return { theme: current, colorsVersion };
}
