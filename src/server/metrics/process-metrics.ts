import type { Identity } from "../server-status.ts";
import type { Labels, Metric } from "./exposition.ts";

/** Process metrics under the conventional Prometheus names. */
export function processMetrics({ version, startedAt }: Identity, streams: number): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const gauge = (name: string, help: string, value: number, labels: Labels = {}): Metric => ({
    name,
    help,
    type: "gauge",
    samples: [{ value, labels }],
  });
  return [
    gauge("maestro_build_info", "The version that runs.", 1, { version }),
    gauge("maestro_event_streams", "Readers of server-sent events.", streams),
    gauge("process_start_time_seconds", "When it began.", startedAt / 1_000),
    gauge("process_resident_memory_bytes", "Memory it holds.", rss),
    gauge("nodejs_heap_size_used_bytes", "Of that, objects.", heapUsed),
    {
      ...gauge("process_cpu_seconds_total", "Time it was computing.", (user + system) / 1_000_000),
      type: "counter",
    },
  ];
}
