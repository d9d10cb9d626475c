// SPF records of providers that include further records of their own, as some really do; all other records list
// addresses.

/** By name; the included names have plain records. */
const LEADING_ON: Readonly<Record<string, string>> = {
  '_spf.google.com':
    'v=spf1 include:_netblocks.google.com include:_netblocks2.google.com include:_netblocks3.google.com ~all',
  'secureserver.net': 'v=spf1 include:spf-0.secureserver.net -all',
  'mailgun.org': 'v=spf1 include:_spf.mailgun.org include:_spf.eu.mailgun.org -all',
  '_spf.salesforce.com': 'v=spf1 exists:%{i}._spf.mta.salesforce.com -all',
};

/** The special record of a name, if it has one. */
export function leadingSpf(name: string): string | undefined {
  return Object.hasOwn(LEADING_ON, name) ? LEADING_ON[name] : undefined;
}
