// Counters and histograms for the hot path: the library finds the series of each value by its labels, which takes as long as
// the rest of a short request's metrics. Here a recorder holds its series.
import { Counter, type Metric, type Registry } from 'prom-client';

type Labels = Readonly<Partial<Record<string, string>>>;

interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly registry: Registry;
}

/** One item for each combination of labels. */
class ByLabels<Item> {
  readonly #items = new Map<string, Item>();

  get(labels: Labels, create: () => Item): Item {
    const key = JSON.stringify(Object.entries(labels).sort());
    const item = this.#items.get(key) ?? create();
    this.#items.set(key, item);
    return item;
  }

  values(): Item[] {
    return [...this.#items.values()];
  }
}

/** Returns a recorder for labels: to be kept, as it is slow to find. */
export function openCounter<Label extends string>({
  labels: labelNames,
  registry,
  ...options
}: MetricOptions & {
  readonly labels: readonly Label[];
}): (labels: Readonly<Record<Label, string>>) => (by?: number) => void {
  const all = new ByLabels<{ readonly labels: Readonly<Record<Label, string>>; sum: number }>();
  const counter: Counter<Label> = new Counter({
    ...{ ...options, labelNames, registers: [registry] },
    collect: () => {
      counter.reset();
      for (const { labels, sum } of all.values()) counter.inc(labels, sum);
    },
  });
  return (labels) => {
    const series = all.get(labels, () => ({ labels, sum: 0 }));
    return (by = 1) => {
      series.sum += by;
    };
  };
}

interface Series {
  readonly labels: Labels;
  /** By bucket, without those below it; the last one has no bound. */
  readonly counts: Float64Array;
  sum: number;
}

/** The same for the distribution of values. */
export function openHistogram({
  name,
  help,
  buckets,
  registry,
}: MetricOptions & { readonly buckets: readonly number[] }): (labels: Labels) => (value: number) => void {
  const all = new ByLabels<Series>();
  const valuesOf = ({ labels, counts, sum }: Series) => {
    let count = 0;
    const bucketed = Array.from(counts, (each, at) => {
      count += each;
      return { metricName: `${name}_bucket`, labels: { le: buckets[at] ?? '+Inf', ...labels }, value: count };
    });
    if (count === 0) return [];
    return [
      ...bucketed,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  };
  const type = { name, help, type: 'histogram', aggregator: 'sum' };
  // The part of a metric that a registry uses.
  registry.registerMetric({
    ...type,
    get: async () => ({ ...type, values: all.values().flatMap(valuesOf) }),
  } as unknown as Metric);
  return (labels) => {
    const series = all.get(labels, () => ({ labels, counts: new Float64Array(buckets.length + 1), sum: 0 }));
    return (value) => {
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at += 1;
      series.counts[at] = (series.counts[at] as number) + 1;
      series.sum += value;
    };
  };
}
