// The witnesses of a service's ledger: settings, metrics and reports.
import { readWitnessPolicy, refusedKey, type WitnessAddress, type WitnessReport } from '@strata/receipts';
import { z } from 'zod';
import { WebAddress } from '../settings/environment.ts';
import { SettingsError } from '../user-error.ts';
import type { Metrics } from './metrics.ts';

export interface WitnessSettings {
  readonly addresses: readonly WitnessAddress[];
  readonly required: number;
}

/** `<verifier key> <URL>` of each witness, separated by commas; limited by the size of a checkpoint. */
const Witnesses = z.string().transform((value, context): WitnessSettings['addresses'] => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const pairs = value.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim().split(/\s+/)]));
  const wrong = pairs.find(([, url, ...rest]) => rest.length > 0 || !WebAddress.safeParse(url).success);
  if (wrong) return refuse(refusedKey(wrong.join(' '), 'a verifier key followed by the URL of a witness'));
  const policy = readWitnessPolicy({ keys: pairs.map(([key = '']) => key) });
  if ('problem' in policy) return refuse(policy.problem);
  return policy.witnesses.map((verifier, at) => ({ verifier, url: WebAddress.parse(pairs[at]?.[1]) }));
});

/** Settings of every service with a ledger. */
export const WitnessEnvironment = z.object({
  STRATA_WITNESSES: Witnesses.default([]).describe(
    'verifier key and URL of each [witness](witnesses.md), comma-separated',
  ),
  STRATA_WITNESSES_REQUIRED: z.coerce
    .number()
    .int()
    .min(1)
    .max(63)
    .optional()
    .meta({ description: 'cosignatures that a checkpoint should have', absent: 'all' }),
});

/** Undefined if no witness is configured. Throws SettingsError. */
export function witnessesOf(settings: z.output<typeof WitnessEnvironment>): WitnessSettings | undefined {
  const { STRATA_WITNESSES: addresses, STRATA_WITNESSES_REQUIRED: required } = settings;
  if (required !== undefined && required > addresses.length)
    throw new SettingsError(
      `STRATA_WITNESSES_REQUIRED: ${required} of ${addresses.length} witnesses in STRATA_WITNESSES`,
    );
  return addresses.length === 0 ? undefined : { addresses, required: required ?? addresses.length };
}

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
