// The columns of a table of domains that show the security posture.
import { type PostureFlag, postureBit } from '@strata/detect';

export const POSTURE_COLUMNS = [
  {
    name: 'spf',
    description:
      'Result that the record requests (RFC 7208): fail (-all), softfail (~all), neutral (?all), pass (+all), valid (no all), permerror or none.',
  },
  { name: 'dmarc', description: 'Published policy: reject, quarantine, none (the policy) or missing.' },
  { name: 'dmarc_effective', description: 'The policy after t=y is applied.' },
  { name: 'dmarc_reporting', description: 'yes or no.' },
  { name: 'mta_sts', description: 'yes or no.' },
  { name: 'tls_rpt', description: 'yes or no.' },
  { name: 'dnssec', description: 'yes or no.' },
  { name: 'caa', description: 'yes or no.' },
  { name: 'bimi', description: 'yes or no.' },
  { name: 'tls_trusted', description: 'yes or no.' },
] as const;

/** Cells in the order of `POSTURE_COLUMNS`; null if unmeasured. */
export function postureCells(posture: number): (string | null)[] {
  const has = (flag: PostureFlag) => (posture & postureBit(flag)) !== 0;
  const yesNo = (flag: PostureFlag, measured: PostureFlag) => (has(measured) ? (has(flag) ? 'yes' : 'no') : null);
  const first = <T extends string>(
    measured: PostureFlag,
    cases: readonly (readonly [PostureFlag, T])[],
    otherwise: T,
  ) => (has(measured) ? (cases.find(([flag]) => has(flag))?.[1] ?? otherwise) : null);
  return [
    first<string>(
      'spf_measured',
      [
        ['spf_fail', 'fail'],
        ['spf_softfail', 'softfail'],
        ['spf_neutral', 'neutral'],
        ['spf_pass', 'pass'],
        ['spf_valid', 'valid'],
        ['spf_permerror', 'permerror'],
      ],
      'none',
    ),
    first<string>(
      'dmarc_measured',
      [
        ['dmarc_reject', 'reject'],
        ['dmarc_quarantine', 'quarantine'],
        ['dmarc_none', 'none'],
      ],
      'missing',
    ),
    first<string>(
      'dmarc_measured',
      [
        ['dmarc_effective_reject', 'reject'],
        ['dmarc_effective_quarantine', 'quarantine'],
        ['dmarc_effective_none', 'none'],
      ],
      'missing',
    ),
    yesNo('dmarc_reporting', 'dmarc_measured'),
    yesNo('mta_sts', 'mta_sts_measured'),
    yesNo('tls_rpt', 'tls_rpt_measured'),
    yesNo('dnssec', 'dnssec_measured'),
    yesNo('caa', 'caa_measured'),
    yesNo('bimi', 'bimi_measured'),
    yesNo('tls_trusted', 'tls_measured'),
  ];
}
