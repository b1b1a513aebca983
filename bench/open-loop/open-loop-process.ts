/** Runs one `OpenLoopPlan` (JSON, the only argument) and prints the `OpenLoopResult`. */
import { encodeHttpRequest, readRequestFile } from '../load/prepared-request.ts';
import { OpenLoopClient } from './open-loop-client.ts';
import type { OpenLoopPlan } from './open-loop-plan.ts';

const plan = JSON.parse(process.argv[2]!) as OpenLoopPlan;
const requests = await readRequestFile(plan.requestsFile);
if (requests.length === 0) throw new Error('the request file is empty');
const result = await new OpenLoopClient(
  plan,
  requests.map((request) => encodeHttpRequest(request, plan.port)),
).run();
process.stdout.write(JSON.stringify(result));
