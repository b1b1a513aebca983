import type { Theme } from '../settings.ts';
import card from '../styles/card.css';
import controls from '../styles/controls.css';
import dark from '../styles/dark.css';
import shell from '../styles/shell.css';

/**
 * The widget's styles as sheets made by script, which a page's Content-Security-Policy has no say in: `style-src` judges
 * style elements and attributes. The dark colours come last, always, never, or as the reader's system wants them.
 */
export function createStyleSheets(theme: Theme): CSSStyleSheet[] {
  const sheets = [createStyleSheet(shell + controls + card)];
  if (theme !== 'light') sheets.push(createStyleSheet(dark, theme === 'auto' ? '(prefers-color-scheme: dark)' : 'all'));
  return sheets;
}

function createStyleSheet(text: string, media = 'all'): CSSStyleSheet {
  const made = new CSSStyleSheet({ media });
  made.replaceSync(text);
  return made;
}
