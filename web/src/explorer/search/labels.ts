// The words of the search's filters, said in full.
import { formatName } from '../../ui/formats.ts';

export type Words = readonly (readonly [value: string, name: string])[];

export const named = (...values: readonly string[]): Words =>
  values.map((value) => [value, formatName(value)] as const);

export const CONFIDENCES = named('high', 'medium', 'low');
export const STATES: Words = [
  ...named('active', 'parked'),
  ['live', 'Active or parked'],
  ...named('nonexistent', 'unmeasured'),
];
export const FLAGS: readonly (readonly [standard: string, Words])[] = [
  [
    'SPF',
    [
      ['spf_valid', 'SPF: valid'],
      ['spf_fail', 'SPF: others are refused (-all)'],
      ['spf_softfail', 'SPF: others are suspect (~all)'],
      ['spf_neutral', 'SPF: says nothing of others (?all)'],
      ['spf_pass', 'SPF: anyone may send (+all)'],
      ['spf_permerror', 'SPF: broken'],
      ['spf_measured', 'SPF: was measured'],
    ],
  ],
  [
    'DMARC',
    [
      ['dmarc_valid', 'DMARC: valid'],
      ['dmarc_reject', 'DMARC: asks to reject'],
      ['dmarc_quarantine', 'DMARC: asks to quarantine'],
      ['dmarc_none', 'DMARC: asks for nothing'],
      ['dmarc_effective_reject', 'DMARC: reject in effect'],
      ['dmarc_effective_quarantine', 'DMARC: quarantine in effect'],
      ['dmarc_effective_none', 'DMARC: nothing in effect'],
      ['dmarc_reporting', 'DMARC: wants reports'],
      ['dmarc_measured', 'DMARC: was measured'],
    ],
  ],
  [
    'Mail transport',
    [
      ['mta_sts', 'MTA-STS: mail only over TLS'],
      ['mta_sts_measured', 'MTA-STS: was measured'],
      ['tls_rpt', 'TLS-RPT: wants reports of failures'],
      ['tls_rpt_measured', 'TLS-RPT: was measured'],
      ['bimi', 'BIMI: shows a logo'],
      ['bimi_measured', 'BIMI: was measured'],
    ],
  ],
  [
    'DNS and TLS',
    [
      ['dnssec', 'DNSSEC: zone is signed'],
      ['dnssec_measured', 'DNSSEC: was measured'],
      ['caa', 'CAA: says who may issue certificates'],
      ['caa_measured', 'CAA: was measured'],
      ['tls_trusted', 'TLS: certificate is trusted'],
      ['tls_expired', 'TLS: certificate has expired'],
      ['tls_measured', 'TLS: was measured'],
    ],
  ],
];

const MARKS = new Map(FLAGS.flatMap(([, marks]) => marks));

/** Marks of the posture as an address has them, separated by commas; one that nobody knows stands as it is. */
export function marksInWords(text: string): readonly string[] {
  return text.split(',').map((mark) => MARKS.get(mark.toLowerCase()) ?? mark);
}
