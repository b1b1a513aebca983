import { randomBytes } from 'node:crypto';
import { subIdByteLength } from '../../../src/sessions/sub-id.ts';
import { WidgetTokens } from '../../../src/widgets/widget-token.ts';
import type { MicroBenchmark } from '../micro.ts';
import { createSecretRing } from '../secrets.ts';

const widgetTokenCalls = 1_000;
const expiresMs = 1_760_000_000_000;

const randomWidgetSubs = () => Array.from({ length: widgetTokenCalls }, () => randomBytes(subIdByteLength));

export const widgetTokenBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'widgets/widget-token: issue',
    call: 'one token of a session, signed and written',
    prepare: () => {
      const tokens = new WidgetTokens(createSecretRing());
      const subs = randomWidgetSubs();
      return {
        calls: widgetTokenCalls,
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
      const tokens = new WidgetTokens(createSecretRing());
      const issued = randomWidgetSubs().map((sub) => ({ sub, text: tokens.issue(sub, expiresMs) }));
      return {
        calls: widgetTokenCalls,
        run: () => {
          let genuine = 0;
          for (const { sub, text } of issued) if (tokens.verify(sub, text) === expiresMs) genuine++;
          if (genuine !== widgetTokenCalls) throw new Error('an issued token is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
