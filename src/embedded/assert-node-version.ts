import { describeOldNode } from './node-version.ts';

// The package imports this module first, so that an old Node.js reports its version and not a missing function.
const reason = describeOldNode();
if (reason !== null) throw new Error(`svc-marketplace: ${reason}`);
