import { bounds } from '../bounds.ts';
import { escapeInvisible } from '../domain/plain-text.ts';
import type { SettingName } from './env.ts';

/** Settings that stop the start. The message is one line for people. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: SettingName;

  private constructor(setting: SettingName, message: string) {
    super(message);
    this.setting = setting;
  }

  /** The variable, what it holds, what it may hold. */
  static invalidValue(setting: SettingName, holds: string, mayHold: string): ConfigError {
    return new ConfigError(setting, `${setting} holds ${quoteForDisplay(holds)}; it may hold ${mayHold}`);
  }

  /** A variable was meant to be a setting, whose place its default would take in silence. */
  static misspelledName(variable: string, meant: SettingName): ConfigError {
    return new ConfigError(
      meant,
      `${escapeInvisible(variable)} is set, but no setting has this name; did you mean ${meant}?`,
    );
  }
}

/** Quoted and escaped, so that no value can break the line or hide in it; and without the password that a URL may hold. */
function quoteForDisplay(text: string): string {
  const { settingCharactersShown: most } = bounds;
  const harmless = text.replaceAll(/\/\/[^/?#]*@/g, '//...@');
  return JSON.stringify(harmless.length > most ? `${harmless.slice(0, most)}...` : harmless);
}
