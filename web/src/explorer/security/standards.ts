// The standards that the scorecard counts: their names, what counts, and the filters of the search that list their domains.
import type { StackPaths } from '@strata/client';

export type Scorecard = StackPaths['/stack/v1/intelligence/security-scorecard']['body'];
export type Standard = keyof Scorecard['adoption'];
export type Sector = NonNullable<StackPaths['/stack/v1/security/export.csv']['query']['sector']>;

export interface Row {
  readonly standard: Standard | 'both';
  readonly name: string;
  /** What counts as having it. */
  readonly note: string;
  /** Lists the domains that have it: one mark of the search or several, separated by commas. */
  readonly flag: string;
  /** Lists the domains that could be measured, likewise. */
  readonly measured: string;
  /** A share of the row before it. */
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
    name: 'Who may send: SPF',
    rows: [
      { standard: 'spf', name: 'SPF', note: 'one valid record', flag: 'spf_valid', measured: 'spf_measured' },
      spf('spf_fail', '-all', 'others are to be refused'),
      spf('spf_softfail', '~all', 'others are suspect'),
      spf('spf_neutral', '?all', 'nothing is said of others'),
      spf('spf_pass', '+all', 'everybody may send'),
      { ...spf('spf_permerror', 'In error', 'several records, or one that cannot be read'), isPart: false },
    ],
  },
  {
    name: 'What happens to forgeries: DMARC',
    rows: [
      { standard: 'dmarc', name: 'DMARC', note: 'a valid policy', flag: 'dmarc_valid', measured: 'dmarc_measured' },
      dmarc('dmarc_none', 'Published: none', 'only watched'),
      dmarc('dmarc_quarantine', 'Published: quarantine', 'into the junk folder'),
      dmarc('dmarc_reject', 'Published: reject', 'refused'),
      dmarc('dmarc_effective_none', 'In effect: none', 'after t=y, which lowers a policy one step'),
      dmarc('dmarc_effective_quarantine', 'In effect: quarantine', 'after t=y'),
      dmarc('dmarc_effective_reject', 'In effect: reject', 'after t=y'),
      dmarc('dmarc_reporting', 'Reports (rua)', 'an address for reports'),
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
    name: 'Transport, names and web',
    rows: [
      {
        standard: 'mta_sts',
        name: 'MTA-STS',
        note: 'mail only under TLS',
        flag: 'mta_sts',
        measured: 'mta_sts_measured',
      },
      {
        standard: 'tls_rpt',
        name: 'TLS-RPT',
        note: 'reports on TLS of mail',
        flag: 'tls_rpt',
        measured: 'tls_rpt_measured',
      },
      { standard: 'dnssec', name: 'DNSSEC', note: 'a DS at the parent', flag: 'dnssec', measured: 'dnssec_measured' },
      { standard: 'caa', name: 'CAA', note: 'who may issue certificates', flag: 'caa', measured: 'caa_measured' },
      { standard: 'bimi', name: 'BIMI', note: 'a logo beside mail', flag: 'bimi', measured: 'bimi_measured' },
      {
        standard: 'tls_trusted',
        name: 'Trusted certificate',
        note: 'of domains that showed any',
        flag: 'tls_trusted',
        measured: 'tls_measured',
      },
    ],
  },
];
