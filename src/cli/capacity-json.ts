import type { CheckResult } from '../capacity/check.ts';
import type { CapacityPlan } from '../capacity/plan.ts';

/** A plan as `--json` shows it. Rates are per second, memory is in MiB, CPU time in cores. */
export function planToJson(plan: CapacityPlan, check: CheckResult | null) {
  const { request, box, key, load, predicted } = plan;
  return {
    keys: request.keys,
    slo_p99_ms: request.sloP99Ms,
    headroom: request.headroom,
    boxes: plan.boxes,
    keys_per_box: plan.keysPerBox,
    bottleneck: plan.bottleneck,
    resources: plan.resources.map(({ name, unit, capacity, perKey, keys }) => ({
      name,
      unit,
      capacity,
      per_key: perKey,
      keys,
      used_share: (load.keys * perKey) / capacity,
    })),
    key: {
      bound_by: key.boundBy,
      requests_per_second: key.requestsPerSecond,
      rates_per_second: key.ratesPerSecond,
      sessions_per_day: key.sessionsPerDay,
      live_sessions: key.liveSessions,
    },
    box: {
      cpu: box.cpu,
      cores: box.cores,
      memory_mib: box.memoryMiB,
      measured_at: box.measuredAt,
      commit: box.commit,
      quick: box.quick,
    },
    load: {
      keys: load.keys,
      requests_per_second: load.requestsPerSecond,
      rates_per_second: load.ratesPerSecond,
      sessions_per_day: load.sessionsPerDay,
      live_sessions: load.liveSessions,
    },
    predicted: {
      p99_ms: predicted.p99Ms,
      socket_thread_cores: predicted.socketThreadCores,
      all_threads_cores: predicted.allThreadsCores,
      memory_mib: predicted.memoryMiB,
      disk_bytes_per_day: predicted.diskBytesPerDay,
    },
    beyond_measured: plan.caveats,
    check: check === null ? null : checkToJson(check),
  };
}

function checkToJson({ rows, measurements, carried }: CheckResult) {
  return {
    carried,
    seconds: measurements.seconds,
    keys: measurements.keys,
    live_sessions: measurements.liveSessions,
    resident_mib: measurements.residentMiB,
    offered_per_second: measurements.offeredPerSecond,
    refused: measurements.refused,
    failed: measurements.failed,
    client_saturated: measurements.clientSaturated,
    figures: rows.map(({ figure, unit, predicted, measured, errorPercent }) => ({
      figure,
      unit,
      predicted,
      measured,
      error_percent: errorPercent,
    })),
  };
}
