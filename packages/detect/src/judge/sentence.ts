// The reason for a service, in one sentence for people.

import { cutText } from '../evidence/text.ts';
import type { ConfidenceLevel, Role, Service, Source } from '../profile.ts';

const CLAIM: Readonly<Record<Role, string>> = {
  dns: 'serves the zone',
  mailbox: 'keeps the mail',
  gateway: 'guards the mail',
  sender: 'may send mail for the domain',
  origin: 'runs the site',
  edge: 'stands between visitors and the site',
  protection: 'filters requests to the site',
  verified: 'has verified the domain for an account at some time',
  issuer: 'issues the certificate',
  platform: 'is part of the site',
};
const DOUBT: Readonly<Record<ConfidenceLevel, string>> = { high: '', medium: 'probably ', low: 'perhaps ' };
const OBSERVED_IN: Readonly<Record<Source, string>> = {
  ns: 'name server',
  soa: 'SOA',
  mx: 'mail exchange',
  spf: 'SPF names',
  txt: 'TXT',
  dmarc: 'DMARC names',
  caa: 'CAA permits',
  cname: 'alias to',
  asn: 'network',
  header: 'header',
  cookie: 'cookie',
  html: 'page shows',
  tls: 'certificate issuer',
};
const MAX_PIECES = 3;
const MAX_VALUE_LENGTH = 80;

/** `Google Workspace keeps the mail: mail exchange aspmx.l.google.com; SPF names _spf.google.com.` `name` is the provider's. */
export function sentenceOf(
  { role, confidence, evidence }: Pick<Service, 'role' | 'confidence' | 'evidence'>,
  name: string,
): string {
  const pieces = evidence.slice(0, MAX_PIECES).map(({ source, value }) => `${OBSERVED_IN[source]} ${shortened(value)}`);
  const more = evidence.length - pieces.length;
  return `${name} ${DOUBT[confidence]}${CLAIM[role]}: ${pieces.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

function shortened(value: string): string {
  const text = value.replace(/\s+/g, ' ');
  return text.length > MAX_VALUE_LENGTH ? `${cutText(text, MAX_VALUE_LENGTH)}…` : text;
}
