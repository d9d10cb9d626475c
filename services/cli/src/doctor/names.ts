// What a service calls itself to others: to those that it scans, and in every checkpoint of its log.
import { isIP } from 'node:net';
import type { Config } from '@strata/stack';
import { type Finding, ok, warning } from './finding.ts';

type Names = Pick<
  Config,
  'contactUrl' | 'ledgerOrigin' | 'role' | 'isScanning' | 'isOnDemand' | 'host' | 'allowedHosts'
>;

/** The defaults do for a trial; who serves others or scans for long needs names of their own. */
export function judgeNames(config: Names): readonly Finding[] {
  const { contactUrl, ledgerOrigin, role } = config;
  const isAsking = role === 'scheduler' ? false : config.isScanning || config.isOnDemand;
  const isServing = role !== 'scanner' && (config.allowedHosts.length > 0 || !isOfThisMachine(config.host));
  return [
    ...(isAsking
      ? [
          new URL(contactUrl).hostname.endsWith('.invalid')
            ? warning('contact', {
                found: `${contactUrl}, which is nobody's`,
                means: 'Whoever is scanned cannot learn who asks, nor ask to be left out, and may shut us out.',
                todo: 'Set STRATA_CONTACT_URL to a page that says who scans.',
              })
            : ok('contact', contactUrl),
        ]
      : []),
    ...(isServing
      ? [
          ledgerOrigin.startsWith('localhost/')
            ? warning('ledger name', {
                found: `${ledgerOrigin}, as everybody's by default`,
                means: 'Whoever checks receipts of several services cannot tell their logs apart.',
                todo: 'Set STRATA_LEDGER_ORIGIN before the first start: a log keeps its name.',
              })
            : ok('ledger name', ledgerOrigin),
        ]
      : []),
  ];
}

const isOfThisMachine = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
