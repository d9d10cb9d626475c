// Who receives, who keeps and who sends a domain's mail. An MX shows who receives; a gateway is not the mailbox.
import type { Finding } from './finding.ts';
import type { Channel } from './patterns.ts';
import type { Reading } from './reading.ts';

/** Says that the provider may act for the domain, and nothing of where mail is kept. */
const HINTS: ReadonlySet<Channel> = new Set(['spf', 'txt']);

/** Findings with the mail roles set right; those of other roles pass unchanged. */
export function judgeMail(findings: readonly Finding[], reading: Reading): Finding[] {
  const mailbox = mailboxHolders(findings, reading);
  const gateways = new Set(
    findings
      .filter(({ rule }) => rule.role === 'gateway' && rule.asSender === undefined)
      .map(({ rule }) => rule.provider),
  );
  return findings.flatMap((finding) => {
    const { rule } = finding;
    if (rule.role === 'mailbox') return placeMailFinding(finding, mailbox.get(rule.provider));
    if (rule.role === 'gateway' && rule.asSender) return gateways.has(rule.provider) ? [finding] : asSender(finding);
    return [finding];
  });
}

type Holding = 'proven' | 'hinted';

function placeMailFinding(finding: Finding, holding: Holding | undefined): Finding[] {
  if (holding === undefined) return asSender(finding);
  // A hint shows a sender for sure and a mailbox perhaps: both are said, each with its own strength.
  return holding === 'hinted' ? [finding, ...asSender(finding)] : [finding];
}

/** An SPF include that does not speak for a mailbox or gateway still lets the provider send; anything else falls away. */
function asSender({ rule, value, strength }: Finding): Finding[] {
  if (!rule.asSender) return [];
  return [{ rule: rule.asSender, value, strength: (strength / rule.strength) * rule.asSender.strength }];
}

/** Providers that the mailbox is found with. */
function mailboxHolders(findings: readonly Finding[], reading: Reading): ReadonlyMap<string, Holding> {
  if (reading.mail === 'none') return new Map();
  const candidates = findings.filter(({ rule }) => rule.role === 'mailbox');
  const byExchange = candidates.filter(({ isPreferred }) => isPreferred);
  if (byExchange.length > 0) return holders(byExchange, 'proven');
  const shown = candidates.filter(({ rule }) => !HINTS.has(rule.channel));
  if (shown.length > 0) return holders(shown, 'proven');
  const isBehindGateway = findings.some(({ rule, isPreferred }) => rule.role === 'gateway' && isPreferred);
  return isBehindGateway ? holders(strongestHinted(candidates), 'hinted') : new Map();
}

function holders(findings: readonly Finding[], holding: Holding): Map<string, Holding> {
  return new Map(findings.map(({ rule }) => [rule.provider, holding]));
}

/** With two providers hinted at equally the mailbox is unknown: to pick one would be a guess. */
function strongestHinted(candidates: readonly Finding[]): readonly Finding[] {
  const doubt = new Map<string, number>();
  const seen = new Set<string>();
  for (const { rule, strength } of candidates) {
    const key = `${rule.provider} ${rule.channel}`;
    if (seen.has(key)) continue;
    seen.add(key);
    doubt.set(rule.provider, (doubt.get(rule.provider) ?? 1) * (1 - strength));
  }
  const [first, second] = [...doubt].sort((a, b) => a[1] - b[1]);
  if (!first || (second && second[1] === first[1])) return [];
  return candidates.filter(({ rule }) => rule.provider === first[0]);
}
