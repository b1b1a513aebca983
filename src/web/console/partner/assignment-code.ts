import type { ExperimentResponse } from '../common/api-types.ts';

type Definition = Pick<ExperimentResponse, 'name' | 'arms' | 'assignment' | 'unit'>;

/** Returns a JavaScript module for Node.js that chooses the page of a visitor by the rule of the service. */
export function writeAssignmentModule({ name, arms }: Definition): string {
  const list = arms.map(({ referrer_tag: tag, weight }) => `  { tag: ${JSON.stringify(tag)}, weight: ${weight} },`);
  return `import { createHash } from 'node:crypto';

const experiment = ${JSON.stringify(name)};
const arms = [
${list.join('\n')}
];

/** Returns the tag of the page for a visitor. visitorId is your own id, such as a random cookie. */
function choosePage(visitorId) {
  const digest = createHash('sha256').update(experiment + '.' + visitorId).digest();
  const fraction = digest.readUIntBE(0, 6) / 2 ** 48;
  let sum = 0;
  for (const { tag, weight } of arms) {
    sum += weight;
    if (fraction < sum) return tag;
  }
  return arms.at(-1).tag;
}

export { choosePage };
`;
}

/** Returns a command that asks the service for the page of a visitor. */
export function writeArmCommand({ name }: Definition, apiUrl: string): string {
  return `curl -sS '${apiUrl}/experiments/${name}/arm?unit_id=VISITOR_ID' \\
  -H "Authorization: Bearer $API_KEY"
`;
}

/** Returns a command that creates a session in the first arm. */
export function writeSessionCommand({ arms, unit }: Definition, apiUrl: string): string {
  const body = { referrer_tag: arms[0]!.referrer_tag, ...(unit === 'visitor' ? { unit_id: 'VISITOR_ID' } : {}) };
  return `curl -sS '${apiUrl}/session' \\
  -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'
`;
}
