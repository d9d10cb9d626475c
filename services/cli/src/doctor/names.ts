// Checks the public names of a service: its contact URL in scans, and its ledger name in checkpoints.
import type { Config } from '@strata/stack';
import { isLoopback } from '../service-address.ts';
import { type Finding, ok, warning } from './finding.ts';

type Names = Pick<
  Config,
  'contactUrl' | 'ledgerOrigin' | 'role' | 'isScanning' | 'isOnDemand' | 'host' | 'allowedHosts'
>;

/** The defaults are sufficient for a trial, but not for a public service or continuous scans. */
export function judgeNames(config: Names): readonly Finding[] {
  const { contactUrl, ledgerOrigin, role } = config;
  const isScanning = role === 'scheduler' ? false : config.isScanning || config.isOnDemand;
  const isServing = role !== 'scanner' && (config.allowedHosts.length > 0 || !isLoopback(config.host));
  return [
    ...(isScanning
      ? [
          new URL(contactUrl).hostname.endsWith('.invalid')
            ? warning('contact', {
                found: `${contactUrl}, the default`,
                means: 'Operators of scanned domains cannot identify the scanner or opt out, and may block it.',
                todo: 'Set STRATA_CONTACT_URL to a page that describes the scanner.',
              })
            : ok('contact', contactUrl),
        ]
      : []),
    ...(isServing
      ? [
          ledgerOrigin.startsWith('localhost/')
            ? warning('ledger name', {
                found: `${ledgerOrigin}, the default`,
                means: 'Verifiers of several services cannot distinguish their logs.',
                todo: 'Set STRATA_LEDGER_ORIGIN before the first start; the name of a log is permanent.',
              })
            : ok('ledger name', ledgerOrigin),
        ]
      : []),
  ];
}
