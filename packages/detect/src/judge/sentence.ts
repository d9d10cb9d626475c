// The reason for a service, in one sentence for people.

import { cutText } from '../evidence/text.ts';
import { type ConfidenceLevel, ROLE_FACTS, type Service, type ServiceEvidence, type Source } from '../profile.ts';
import { isDkimLabel } from '../rulebook/patterns.ts';

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

/** `Google Workspace hosts the mailboxes: mail exchange aspmx.l.google.com; SPF names _spf.google.com.` `name` is the provider's. */
export function sentenceOf(
  { role, confidence, evidence }: Pick<Service, 'role' | 'confidence' | 'evidence'>,
  name: string,
): string {
  const pieces = evidence.slice(0, MAX_PIECES).map((piece) => `${kindOf(piece)} ${shortened(piece.value)}`);
  const more = evidence.length - pieces.length;
  return `${name} ${DOUBT[confidence]}${ROLE_FACTS[role].claim}: ${pieces.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

/** A DKIM key and a published address have the source of an alias and of a network; their rules have another pattern. */
function kindOf({ source, rule, value }: ServiceEvidence): string {
  if (source === 'cname' && isDkimLabel(rule)) return 'DKIM key';
  if (source === 'cname' && `${rule} ${value}`.includes('._domainkey')) return 'DKIM alias to';
  return source === 'asn' && /[.:]/.test(rule) ? 'address' : OBSERVED_IN[source];
}

function shortened(value: string): string {
  const text = value.replace(/\s+/g, ' ');
  return text.length > MAX_VALUE_LENGTH ? `${cutText(text, MAX_VALUE_LENGTH)}…` : text;
}
