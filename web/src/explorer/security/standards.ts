// The standards of the scorecard: names, criteria, and the search filters that list their domains.
import type { StackPaths } from '@strata/client';

export type Scorecard = StackPaths['/stack/v1/intelligence/security-scorecard']['body'];
export type Standard = keyof Scorecard['adoption'];

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

/** A standard whose search flags have its name. */
const standard = (
  name: Exclude<Row['standard'], 'both'>,
  title: string,
  note: string,
  measured: string = name,
): Row => ({
  standard: name,
  name: title,
  note,
  flag: name,
  measured: `${measured}_measured`,
});
const part = (...row: Parameters<typeof standard>): Row => ({ ...standard(...row), isPart: true });

export const GROUPS: readonly Group[] = [
  {
    name: 'Sender authorization: SPF',
    rows: [
      { ...standard('spf', 'SPF', 'one valid record'), flag: 'spf_valid' },
      part('spf_fail', '-all', 'fail: other senders are rejected', 'spf'),
      part('spf_softfail', '~all', 'softfail: other senders are suspicious', 'spf'),
      part('spf_neutral', '?all', 'neutral: no statement about other senders', 'spf'),
      part('spf_pass', '+all', 'pass: any host may send', 'spf'),
      standard('spf_permerror', 'Error', 'multiple or invalid records', 'spf'),
    ],
  },
  {
    name: 'Handling of unauthenticated mail: DMARC',
    rows: [
      { ...standard('dmarc', 'DMARC', 'a valid policy'), flag: 'dmarc_valid' },
      part('dmarc_none', 'Published: none', 'monitoring only', 'dmarc'),
      part('dmarc_quarantine', 'Published: quarantine', 'delivered to the spam folder', 'dmarc'),
      part('dmarc_reject', 'Published: reject', 'rejected', 'dmarc'),
      part('dmarc_effective_none', 'Effective: none', 'after t=y, which weakens the policy by one level', 'dmarc'),
      part('dmarc_effective_quarantine', 'Effective: quarantine', 'after t=y', 'dmarc'),
      part('dmarc_effective_reject', 'Effective: reject', 'after t=y', 'dmarc'),
      part('dmarc_reporting', 'Reports (rua)', 'aggregate reports requested', 'dmarc'),
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
      standard('mta_sts', 'MTA-STS', 'TLS required for mail delivery'),
      standard('tls_rpt', 'TLS-RPT', 'reports about TLS failures'),
      standard('dnssec', 'DNSSEC', 'DS record at the parent zone'),
      standard('caa', 'CAA', 'restricts certificate authorities'),
      standard('bimi', 'BIMI', 'brand logo for mail'),
      standard('tls_trusted', 'Trusted certificate', 'of domains with a certificate', 'tls'),
    ],
  },
];
