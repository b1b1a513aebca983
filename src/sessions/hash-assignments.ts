import { daysSinceEpoch } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Tenant } from '../domain/tenant.ts';
import { findAssignedArm } from '../experiments/assign-arm.ts';
import { type ExperimentDefinition, isRunningOn, parseExperimentDefinition } from '../experiments/experiment.ts';
import { decodeSubId, encodeVerticalAndMode } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { isExperimentRecord, type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';

interface HashExperiment {
  readonly name: string;
  readonly definition: ExperimentDefinition;
}

interface TenantExperiments {
  /** Experiments by name; null for an experiment whose sessions are not checked. */
  readonly byName: Map<string, HashExperiment | null>;
  /** Experiments by the referrer tags of their arms. */
  readonly byTag: Map<string, HashExperiment>;
}

/**
 * Running experiments with `assignment: "hash"`, for the check of new sessions (docs/contract.md#assignment-by-hash). Changes of experiments
 * apply when their ledger records are appended. After a restart, the experiments are restored from the analytics store; until an experiment
 * is restored, its sessions are not checked.
 *
 * A tenant has at most `bounds.experimentsPerTenantMax` experiments. Experiments that have ended stay in memory until the next restart.
 */
export class HashAssignments implements LedgerSubscriber {
  /** The replay needs no records, because the analytics store includes them all. */
  readonly replayStartTimeMs = Number.POSITIVE_INFINITY;
  readonly #tenants = new Map<number, TenantExperiments>();

  /** Whether a new session has the tag of another arm than `assignArm` returns for its `unit_id`. */
  isMisassigned({ account, vertical, mode }: Tenant, tag: string, unitId: string, nowMs: number): boolean {
    const experiment = this.#tenants.get(tenantKey(account, vertical.number, mode))?.byTag.get(tag);
    if (experiment === undefined) return false;
    const { name, definition } = experiment;
    const today = daysSinceEpoch(nowMs);
    if (today < definition.startsOn || !isRunningOn(definition, today)) return false;
    return findAssignedArm(name, unitId, definition.arms).referrerTag !== tag;
  }

  applyLedgerRecord(record: LedgerRecord): void {
    if (!isExperimentRecord(record)) return;
    const [kind, wallMs, sub, name] = record;
    // A deleted experiment still runs.
    if (kind === ledgerRecordKind.experimentDeleted) return;
    const { account, vertical, mode } = decodeSubId(sub);
    const { byName, byTag } = this.#getTenant(account, vertical, mode);
    for (const { referrerTag } of byName.get(name)?.definition.arms ?? []) {
      if (byTag.get(referrerTag)?.name === name) byTag.delete(referrerTag);
    }
    const definition = kind === ledgerRecordKind.experimentDefined ? parseExperimentDefinition(record[5]) : null;
    // An experiment that does not run can have tags of one that does.
    const isChecked = definition?.assignment === 'hash' && isRunningOn(definition, daysSinceEpoch(wallMs));
    const experiment = isChecked ? { name, definition } : null;
    byName.set(name, experiment);
    for (const { referrerTag } of experiment?.definition.arms ?? []) byTag.set(referrerTag, experiment!);
  }

  /** Restores a running experiment from the analytics store. Has no effect if a ledger record has already changed the experiment. */
  restoreExperiment(account: number, vertical: number, mode: ApiKeyMode, experiment: HashExperiment): void {
    const { byName, byTag } = this.#getTenant(account, vertical, mode);
    if (byName.has(experiment.name)) return;
    byName.set(experiment.name, experiment);
    for (const { referrerTag } of experiment.definition.arms) getOrAdd(byTag, referrerTag, () => experiment);
  }

  #getTenant(account: number, vertical: number, mode: ApiKeyMode): TenantExperiments {
    const key = tenantKey(account, vertical, mode);
    return getOrAdd(this.#tenants, key, () => ({ byName: new Map(), byTag: new Map() }));
  }
}

function tenantKey(account: number, vertical: number, mode: ApiKeyMode): number {
  return account * 256 + encodeVerticalAndMode(vertical, mode);
}
