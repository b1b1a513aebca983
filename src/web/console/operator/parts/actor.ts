import type { AuditActorKind } from '../../../../audit/audit-actions.ts';

/** Words for the actors of the audit log. */
const actorWords: Readonly<Record<AuditActorKind, string>> = {
  operator_token: 'operator, by token',
  operator_console: 'operator, in the console',
  command_line: 'command line',
  partner_key: 'partner, by key',
  partner_console: 'partner, in the console',
  embedding_program: 'embedding program',
  service: 'the service',
};

/** Describes who made a change. */
export function describeActor({
  actor,
  actor_name,
}: {
  readonly actor: string;
  readonly actor_name: string | null;
}): string {
  const words = Object.hasOwn(actorWords, actor) ? actorWords[actor as AuditActorKind] : actor;
  return actor_name === null ? words : `${words}: ${actor_name}`;
}
