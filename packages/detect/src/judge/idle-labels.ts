// Labels that need no question, because the exchanges decide what they could show.
import { isMeasured, type Lookup, type MxRecord } from '../evidence/evidence.ts';
import { mailExchanges } from '../evidence/reading.ts';
import type { Finding } from '../match/finding.ts';
import { matchExchanges } from '../match/match-dns.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';

/**
 * Labels of mailbox providers alone, whose answer changes no claim: the preferred exchanges show another mailbox, or there is no
 * exchange, and the judgement of mailboxes then uses nothing else. None if the exchanges are unknown, a gateway's or the domain's own.
 */
export function idleLabels(
  mx: Lookup<MxRecord>,
  { mailboxLabels, matchers }: Pick<Rulebook, 'mailboxLabels' | 'matchers'>,
): ReadonlySet<string> {
  const exchanges = mailExchanges(mx);
  const findings: Finding[] = [];
  matchExchanges(findings, { exchanges }, matchers.hosts.mx);
  const shown = findings.filter(({ rule, isPreferred }) => isPreferred && rule.role === 'mailbox');
  if (!isMeasured(mx.status) || (exchanges.length > 0 && shown.length === 0)) return new Set();
  const holders = new Set(shown.map(({ rule }) => rule.provider));
  return new Set([...mailboxLabels].filter(([, of]) => of.isDisjointFrom(holders)).map(([label]) => label));
}
