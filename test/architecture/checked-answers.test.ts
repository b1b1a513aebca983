import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from './source-tree.ts';

/** Who asks over HTTP without the check of `HttpClient` and `ServiceConnection`, and whom. */
const others: Readonly<Record<string, string>> = {
  'test/bench/target/baseline-target.test.ts':
    'servers to compare with, and ours for the bytes of an answer that another test checks',
  'test/bench/target/service-target.test.ts': 'a server that has ended',
  'test/cli/slow-readers.test.ts': 'a service whose answers it does not read',
  'test/config/resolve-urls.test.ts': 'none: the port is blocked, or the connection is replaced',
  'test/embedded/programs/lifecycle.ts': 'a service at no address, from a program on its own',
  'test/examples/landing-page.test.ts': 'the landing page, and for that page the service',
  'test/examples/visitor.ts': 'the landing page',
  'test/http/certificates.test.ts': 'a listener without a service',
  'test/http/listener-cases.ts': 'a listener without a service',
  'test/http/listener.test.ts': 'a listener without a service',
  'test/http/programs/serve-and-close.ts': 'a listener without a service',
  'test/http/raw-connection.ts': 'whom it is told: ServiceConnection is made of it',
  'test/privacy/personal-data.test.ts': 'the operations listener',
  'test/support/http-client.ts': 'whom it is told: this is where the check is',
};

const asks =
  /(?<![.\w'])fetch\(|RawConnection\.open|import \{[^}]*\b(request|get|connect)\b[^}]*\} from 'node:(http|https|http2|net|tls)'/;

test('every test client checks responses against the OpenAPI document', () => {
  const found = sourceFiles('test')
    .filter(({ path, text }) => asks.test(text) && !path.startsWith('test/architecture/'))
    .map(({ path }) => path);
  assert.deepEqual(found.sort(), Object.keys(others).sort());
});
