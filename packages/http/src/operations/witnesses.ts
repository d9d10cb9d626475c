// The witnesses of a service's ledger: settings, metrics and reports.
import { readWitnessPolicy, refusedKey, type WitnessAddress, type WitnessReport } from '@strata/receipts';
import { z } from 'zod';
import { WebAddress } from '../settings/environment.ts';
import type { Metrics } from './metrics.ts';

export interface WitnessSettings {
  readonly addresses: readonly WitnessAddress[];
  readonly required: number;
}

/**
 * `<verifier key> <URL>` of each witness, and `required=<number>` of cosignatures, separated by commas; limited by the
 * size of a checkpoint. Undefined if no witness is configured.
 */
const Witnesses = z.string().transform((value, context): WitnessSettings | undefined => {
  const refuse = (message: string, path: string[] = []) => {
    context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  };
  const items = value.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
  const counts = items.flatMap((item) => /^required\s*=(.*)$/.exec(item)?.[1]?.trim() || []);
  const pairs = items.filter((item) => !/^required\s*=/.test(item)).map((item) => item.split(/\s+/));
  const wrong = pairs.find(([, url, ...rest]) => rest.length > 0 || !WebAddress.safeParse(url).success);
  if (wrong) return refuse(refusedKey(wrong.join(' '), 'a verifier key followed by the URL of a witness'));
  const policy = readWitnessPolicy({ keys: pairs.map(([key = '']) => key) });
  if ('problem' in policy) return refuse(policy.problem);
  const addresses = policy.witnesses.map((verifier, at) => ({ verifier, url: WebAddress.parse(pairs[at]?.[1]) }));
  if (counts.length > 1) return refuse("item 'required' is set twice");
  const required = Number(counts[0] ?? addresses.length);
  if (counts.length > 0 && !(Number.isInteger(required) && required >= 1 && required <= addresses.length))
    return refuse(`must be a number from 1 to the ${addresses.length} of the witnesses`, ['required']);
  return addresses.length === 0 ? undefined : { addresses, required };
});

/** Settings of every service with a ledger. */
export const WitnessEnvironment = z.object({
  STRATA_WITNESSES: Witnesses.optional().meta({
    description:
      'verifier key and URL of each [witness](witnesses.md), comma-separated; with `required=2` so many cosignatures are enough, not all',
    absent: 'none',
  }),
});

/** For the log: why the served checkpoint has fewer cosignatures than required; undefined if it has enough. */
export function witnessProblem(report: WitnessReport | undefined): string | undefined {
  if (!report || report.cosigning >= report.required) return undefined;
  const missing = report.missing.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  return `${report.cosigning} of ${report.required} required witnesses have cosigned the checkpoint (${missing})`;
}

/** For `/ready`: informational, the service also answers without witnesses. */
export function witnessFacts(report: WitnessReport | undefined): Readonly<Record<string, unknown>> {
  if (!report) return {};
  const { required, cosigning, missing } = report;
  return { witnesses: { required, cosigning, missing: missing.map(({ name }) => name) } };
}

/** Metrics of a ledger with witnesses. */
export function addWitnessMetrics(metrics: Metrics, report: () => WitnessReport | undefined): void {
  const help = 'Witnesses of the ledger: configured, required, and those that have cosigned the checkpoint served';
  metrics.gauges('strata_ledger_witnesses', help, 'what', () => {
    const { configured = 0, required = 0, cosigning = 0 } = report() ?? {};
    return Object.entries({ configured, required, cosigning });
  });
  const leaves = 'Leaves of the newest checkpoint that as many witnesses as required have cosigned';
  metrics.gauge('strata_ledger_cosigned_leaves', leaves, () => report()?.cosignedLeaves ?? 0);
}
