// Labels for the values of the search filters.
import type { Option } from '../../ui/controls/select.tsx';
import { labelled } from '../links/categories.ts';

export const CONFIDENCES = labelled(['high', 'medium', 'low']);
export const STATES: readonly Option[] = [
  ...labelled(['active', 'parked']),
  ['live', 'Active or parked'],
  ...labelled(['nonexistent', 'unmeasured']),
];
/** Names are the order without the parameter. */
export const SORTS: readonly Option[] = [
  ['', 'Name'],
  ['-score', 'Score, highest first'],
  ['score', 'Score, lowest first'],
  ['-changed_at', 'Last change, newest first'],
  ['changed_at', 'Last change, oldest first'],
  ['-first_seen', 'First scan, newest first'],
  ['first_seen', 'First scan, oldest first'],
  ['-scanned_at', 'Last scan, newest first'],
  ['scanned_at', 'Last scan, oldest first'],
];
export const FLAGS: readonly (readonly [standard: string, readonly Option[]])[] = [
  [
    'SPF',
    [
      ['spf_valid', 'SPF: valid'],
      ['spf_fail', 'SPF: fail (-all)'],
      ['spf_softfail', 'SPF: softfail (~all)'],
      ['spf_neutral', 'SPF: neutral (?all)'],
      ['spf_pass', 'SPF: pass (+all)'],
      ['spf_permerror', 'SPF: permanent error'],
      ['spf_measured', 'SPF: measured'],
    ],
  ],
  [
    'DMARC',
    [
      ['dmarc_valid', 'DMARC: valid'],
      ['dmarc_reject', 'DMARC: p=reject'],
      ['dmarc_quarantine', 'DMARC: p=quarantine'],
      ['dmarc_none', 'DMARC: p=none'],
      ['dmarc_effective_reject', 'DMARC: effective reject'],
      ['dmarc_effective_quarantine', 'DMARC: effective quarantine'],
      ['dmarc_effective_none', 'DMARC: effective none'],
      ['dmarc_reporting', 'DMARC: aggregate reports'],
      ['dmarc_measured', 'DMARC: measured'],
    ],
  ],
  [
    'Mail transport',
    [
      ['mta_sts', 'MTA-STS: policy published'],
      ['mta_sts_measured', 'MTA-STS: measured'],
      ['tls_rpt', 'TLS-RPT: reports requested'],
      ['tls_rpt_measured', 'TLS-RPT: measured'],
      ['bimi', 'BIMI: record published'],
      ['bimi_measured', 'BIMI: measured'],
    ],
  ],
  [
    'DNS and TLS',
    [
      ['dnssec', 'DNSSEC: signed'],
      ['dnssec_measured', 'DNSSEC: measured'],
      ['caa', 'CAA: record published'],
      ['caa_measured', 'CAA: measured'],
      ['tls_trusted', 'TLS: trusted certificate'],
      ['tls_expired', 'TLS: expired certificate'],
      ['tls_measured', 'TLS: measured'],
    ],
  ],
];

const FLAG_LABELS = new Map(FLAGS.flatMap(([, flags]) => flags));

/** The labels of comma-separated posture flags; unknown flags are returned unchanged. */
export function flagLabels(text: string): readonly string[] {
  return text.split(',').map((flag) => FLAG_LABELS.get(flag.toLowerCase()) ?? flag);
}
