/** Kinds of actors (docs/operating.md#audit-log). */
export type AuditActorKind =
  | 'operator_token'
  | 'operator_console'
  | 'command_line'
  | 'partner_key'
  | 'partner_console'
  | 'embedding_program'
  | 'service';

/** Recorded changes. The table in docs/operating.md#audit-log describes them. */
export const auditActions = [
  'key.create',
  'key.revoke',
  'keys.repair',
  'origin.allow',
  'origin.remove',
  'catalog.activate',
  'confirmations.submit',
  'confirmations.result',
  'experiment.define',
  'experiment.change',
  'experiment.close',
  'experiment.delete',
  'secret.create',
  'secret.rotate',
  'unit_key.create',
  'operator_token.create',
  'test_clock.advance',
  'log.repair',
  'ledger.accept_loss',
  'journal.accept_loss',
  'audit.create',
  'audit.accept_loss',
  'change.failed',
] as const;
export type AuditAction = (typeof auditActions)[number];
