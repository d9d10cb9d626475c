// Who receives, who keeps and who sends a domain's mail. An MX shows who receives; a gateway is not the mailbox.

import type { Reading } from '../evidence/reading.ts';
import { type Finding, findingOf, type Judgement } from '../match/finding.ts';
import { NO_ROLES, type Role } from '../profile.ts';
import type { Rule } from '../rulebook/matchers.ts';
import type { Channel } from '../rulebook/patterns.ts';

/** Says that the provider may act for the domain, and nothing of where mail is kept. */
const HINTS: ReadonlySet<Channel> = new Set(['spf', 'txt']);

/** Findings with the mail roles set right; those of other roles pass unchanged. */
export function judgeMail(findings: readonly Finding[], reading: Reading): Pick<Judgement, 'findings' | 'unsettled'> {
  const { failures } = reading;
  const { holders: mailbox, isUnsettled } = mailboxHolders(findings, reading);
  const hasExchange = mailbox.size > 0 && [...mailbox.values()].includes('exchange');
  const isMailboxKnown = !failures.mx && !isUnsettled && (hasExchange || !failures.named);
  const judged: Finding[] = [];
  let isSenderUnsettled = false;
  /** An include that speaks for no mailbox or gateway still lets the provider send, once that is known. */
  const addSender = (finding: Finding, isKnown: boolean) => {
    const { asSender: sender } = finding.rule;
    if (!sender) return;
    if (isKnown) judged.push(asSender(finding, sender));
    else isSenderUnsettled = true;
  };
  for (const finding of findings) {
    const { role, provider, asSender: sender } = finding.rule;
    if (role === 'mailbox') {
      const holding = mailbox.get(provider);
      // A hint shows a sender for sure and a mailbox perhaps: both are said, each with its own strength.
      if (holding !== undefined) judged.push(finding);
      if (holding === undefined || holding === 'hint') addSender(finding, isMailboxKnown);
    } else if (role === 'gateway' && sender && !receives(provider, findings)) {
      addSender(finding, !failures.mx && !failures.dmarc);
    } else {
      judged.push(finding);
    }
  }
  return { findings: withoutLeftOvers(judged), unsettled: rolesOf(isUnsettled, isSenderUnsettled) };
}

/** Something but an include shows the gateway. */
function receives(provider: string, findings: readonly Finding[]): boolean {
  return findings.some(({ rule }) => rule.role === 'gateway' && !rule.asSender && rule.provider === provider);
}

function rolesOf(isMailboxUnsettled: boolean, isSenderUnsettled: boolean): ReadonlySet<Role> {
  if (!isMailboxUnsettled && !isSenderUnsettled) return NO_ROLES;
  return new Set<Role>([
    ...(isMailboxUnsettled ? ['mailbox' as const] : []),
    ...(isSenderUnsettled ? ['sender' as const] : []),
  ]);
}

function withoutLeftOvers(findings: readonly Finding[]): readonly Finding[] {
  return findings.some(({ isDangling }) => isDangling) ? findings.filter(isBorneOut) : findings;
}

/** A sender's alias without a target is left over from it, unless something else speaks of it too. */
function isBorneOut({ rule, isDangling }: Finding, _: number, all: readonly Finding[]): boolean {
  if (!isDangling || rule.role !== 'sender') return true;
  return all.some((other) => other.rule.service === rule.service && !other.isDangling);
}

/** What a provider's hold on the mailbox rests on. */
type Holding = 'exchange' | 'alias' | 'hint';

function asSender({ rule, value, strength }: Finding, sender: Rule): Finding {
  return findingOf(sender, value, { strength: (strength / rule.strength) * sender.strength });
}

interface MailboxHolders {
  readonly holders: ReadonlyMap<string, Holding>;
  /** Somebody might hold it too, or not, by what was not answered. */
  readonly isUnsettled: boolean;
}

const NOBODY: MailboxHolders = { holders: new Map(), isUnsettled: false };
const NOBODY_KNOWN: MailboxHolders = { holders: new Map(), isUnsettled: true };

/** Providers that the mailbox is found with. Without an answer about the exchanges nothing else decides. */
function mailboxHolders(findings: readonly Finding[], { mail, failures }: Reading): MailboxHolders {
  if (mail === 'none' || failures.mx) return NOBODY;
  const isPolicyUnknown = failures.txt || failures.policies;
  const candidates = findings.filter(({ rule }) => rule.role === 'mailbox');
  if (candidates.length === 0) return isPolicyUnknown ? NOBODY_KNOWN : NOBODY;
  const byExchange = candidates.filter(({ isPreferred }) => isPreferred);
  if (byExchange.length > 0) return { holders: holders(byExchange, 'exchange'), isUnsettled: false };
  const isBehindGateway = findings.some(({ rule, isPreferred }) => rule.role === 'gateway' && isPreferred);
  // Behind a gateway the exchange that is not preferred is where mail goes on to; before an own one it only queues.
  const shown = candidates.filter(
    ({ rule, isPreferred }) => !HINTS.has(rule.channel) && (isPreferred === undefined || isBehindGateway),
  );
  if (shown.length > 0) {
    const settled = uncontested(shown, candidates, { isPolicyUnknown });
    return { holders: holders(settled, 'alias'), isUnsettled: isPolicyUnknown && settled.length < shown.length };
  }
  if (!isBehindGateway || failures.named || isPolicyUnknown) return isPolicyUnknown ? NOBODY_KNOWN : NOBODY;
  return { holders: holders(strongestHinted(candidates), 'hint'), isUnsettled: false };
}

/**
 * Client set-up or selectors alone are what a dormant account leaves too: where the policy names another mailbox provider and not this
 * one, neither is known. While the policy cannot be had, it might.
 */
function uncontested(
  shown: readonly Finding[],
  candidates: readonly Finding[],
  { isPolicyUnknown }: { readonly isPolicyUnknown: boolean },
): readonly Finding[] {
  const hinted = new Set(candidates.filter(({ rule }) => rule.channel === 'spf').map(({ rule }) => rule.provider));
  return shown.filter(({ rule: { provider } }) => {
    const channels = new Set(shown.filter(({ rule }) => rule.provider === provider).map(({ rule }) => rule.channel));
    if (channels.size > 1 || channels.has('mx')) return true;
    return !isPolicyUnknown && (hinted.size === 0 || hinted.has(provider));
  });
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
