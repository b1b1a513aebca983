import { bounds } from '../bounds.ts';
import type { SettingName } from './env.ts';

/** A setting that stops the start. The message is one line: the variable, what it holds, what it may hold. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: SettingName;

  constructor(setting: SettingName, holds: string, mayHold: string) {
    super(`${setting} holds ${shown(holds)}; it may hold ${mayHold}`);
    this.setting = setting;
  }
}

/** Quoted and escaped, so that no value can break the line or hide in it. */
function shown(text: string): string {
  const { settingCharactersShown: most } = bounds;
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}...` : text);
}
