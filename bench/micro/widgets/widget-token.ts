import { randomBytes } from 'node:crypto';
import { subIdBytes } from '../../../src/sessions/sub-id.ts';
import { WidgetTokens } from '../../../src/widgets/widget-token.ts';
import type { Micro } from '../micro.ts';
import { newSecrets } from '../secrets.ts';

const calls = 1_000;
const expiresMs = 1_760_000_000_000;

const drawSubs = () => Array.from({ length: calls }, () => randomBytes(subIdBytes));

export const widgetTokenMicros: readonly Micro[] = [
  {
    name: 'widgets/widget-token: issue',
    call: 'one token of a session, signed and written',
    prepare: () => {
      const tokens = new WidgetTokens(newSecrets());
      const subs = drawSubs();
      return {
        calls,
        run: () => {
          let characters = 0;
          for (const sub of subs) characters += tokens.issue(sub, expiresMs).length;
          return characters;
        },
      };
    },
  },
  {
    name: 'widgets/widget-token: verify',
    call: 'one token of a session, read and its signature checked',
    prepare: () => {
      const tokens = new WidgetTokens(newSecrets());
      const issued = drawSubs().map((sub) => ({ sub, text: tokens.issue(sub, expiresMs) }));
      return {
        calls,
        run: () => {
          let genuine = 0;
          for (const { sub, text } of issued) if (tokens.verify(sub, text) === expiresMs) genuine++;
          if (genuine !== calls) throw new Error('an issued token is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
