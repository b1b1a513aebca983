import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEmbedPolicy } from '../../src/widgets/embed-policy.ts';

const own = 'https://widget.example';
const home = 'https://shop.example';

describe('createEmbedPolicy', () => {
  it('allows the listed origins to embed a widget, and the widget host to send requests', () => {
    for (const mode of ['live', 'test'] as const) {
      const policy = createEmbedPolicy(mode, [home, 'http://localhost:3000'], own);
      assert.equal(policy.frameAncestors, `${home} http://localhost:3000`);
      assert.deepEqual([home, own, '', 'https://evil.example', 'null'].map(policy.corsOriginFor), [
        home,
        own,
        '',
        null,
        null,
      ]);
    }
  });

  it('without origins, allows any page to embed a test widget and no page to embed a live widget', () => {
    const sandbox = createEmbedPolicy('test', [], own);
    assert.equal(sandbox.frameAncestors, '*');
    assert.deepEqual([home, own, '', 'null'].map(sandbox.corsOriginFor), ['*', '*', '', '*']);
    const live = createEmbedPolicy('live', [], own);
    assert.equal(live.frameAncestors, "'none'");
    assert.deepEqual([home, own, '', 'null'].map(live.corsOriginFor), [null, own, '', null]);
  });
});
