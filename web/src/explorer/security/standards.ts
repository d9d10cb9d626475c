// The standards of the scorecard: names, criteria, and the search filters that list their domains.
import type { StackPaths } from '@strata/client';

export type Scorecard = StackPaths['/stack/v1/intelligence/security-scorecard']['body'];
export type Standard = keyof Scorecard['adoption'];
export type Sector = NonNullable<StackPaths['/stack/v1/security/export.csv']['query']['sector']>;

export interface Row {
  readonly standard: Standard | 'both';
  readonly name: string;
  /** The criterion. */
  readonly note: string;
  /** Search flags of the domains that have it, separated by commas. */
  readonly flag: string;
  /** Search flags of the measured domains. */
  readonly measured: string;
  /** A subset of the row above. */
  readonly isPart?: boolean;
}

export interface Group {
  readonly name: string;
  readonly rows: readonly Row[];
}

const spf = (standard: Standard, name: string, note: string): Row => ({
  standard,
  name,
  note,
  flag: standard,
  measured: 'spf_measured',
  isPart: true,
});
const dmarc = (standard: Standard, name: string, note: string): Row => ({
  ...spf(standard, name, note),
  measured: 'dmarc_measured',
});

export const GROUPS: readonly Group[] = [
  {
    name: 'Sender authorization: SPF',
    rows: [
      { standard: 'spf', name: 'SPF', note: 'one valid record', flag: 'spf_valid', measured: 'spf_measured' },
      spf('spf_fail', '-all', 'fail: other senders are rejected'),
      spf('spf_softfail', '~all', 'softfail: other senders are suspicious'),
      spf('spf_neutral', '?all', 'neutral: no statement about other senders'),
      spf('spf_pass', '+all', 'pass: any host may send'),
      { ...spf('spf_permerror', 'Error', 'multiple or invalid records'), isPart: false },
    ],
  },
  {
    name: 'Handling of unauthenticated mail: DMARC',
    rows: [
      { standard: 'dmarc', name: 'DMARC', note: 'a valid policy', flag: 'dmarc_valid', measured: 'dmarc_measured' },
      dmarc('dmarc_none', 'Published: none', 'monitoring only'),
      dmarc('dmarc_quarantine', 'Published: quarantine', 'delivered to the spam folder'),
      dmarc('dmarc_reject', 'Published: reject', 'rejected'),
      dmarc('dmarc_effective_none', 'Effective: none', 'after t=y, which weakens the policy by one level'),
      dmarc('dmarc_effective_quarantine', 'Effective: quarantine', 'after t=y'),
      dmarc('dmarc_effective_reject', 'Effective: reject', 'after t=y'),
      dmarc('dmarc_reporting', 'Reports (rua)', 'aggregate reports requested'),
      {
        standard: 'both',
        name: 'SPF and DMARC',
        note: 'valid SPF and a DMARC policy',
        flag: 'spf_valid,dmarc_valid',
        measured: 'spf_measured,dmarc_measured',
      },
    ],
  },
  {
    name: 'Transport, DNS and web',
    rows: [
      {
        standard: 'mta_sts',
        name: 'MTA-STS',
        note: 'TLS required for mail delivery',
        flag: 'mta_sts',
        measured: 'mta_sts_measured',
      },
      {
        standard: 'tls_rpt',
        name: 'TLS-RPT',
        note: 'reports about TLS failures',
        flag: 'tls_rpt',
        measured: 'tls_rpt_measured',
      },
      {
        standard: 'dnssec',
        name: 'DNSSEC',
        note: 'DS record at the parent zone',
        flag: 'dnssec',
        measured: 'dnssec_measured',
      },
      {
        standard: 'caa',
        name: 'CAA',
        note: 'restricts certificate authorities',
        flag: 'caa',
        measured: 'caa_measured',
      },
      { standard: 'bimi', name: 'BIMI', note: 'brand logo for mail', flag: 'bimi', measured: 'bimi_measured' },
      {
        standard: 'tls_trusted',
        name: 'Trusted certificate',
        note: 'of domains with a certificate',
        flag: 'tls_trusted',
        measured: 'tls_measured',
      },
    ],
  },
];
