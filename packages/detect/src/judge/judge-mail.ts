// Decides who receives, stores and sends a domain's mail. An MX shows the receiver; a gateway is not the mailbox.

import type { Reading } from '../evidence/reading.ts';
import { type Finding, findingOf, type Judgement } from '../match/finding.ts';
import { LONE_SETUP_FACTOR, PERMITTED_SETUP_FACTOR } from '../match/strengths.ts';
import { NO_ROLES, type Role } from '../profile.ts';
import type { Rule } from '../rulebook/matchers.ts';
import type { Channel } from '../rulebook/patterns.ts';

/** Shows that the provider may act for the domain, but not where mail is stored. */
const HINTS: ReadonlySet<Channel> = new Set(['spf', 'txt']);

/** Corrects the mail roles of findings; findings of other roles pass unchanged. */
export function judgeMail(findings: readonly Finding[], reading: Reading): Pick<Judgement, 'findings' | 'unsettled'> {
  const { failures, evidence } = reading;
  const { holders: mailbox, isUnsettled } = mailboxHolders(findings, reading);
  const hasExchange = mailbox.size > 0 && [...mailbox.values()].includes('exchange');
  const isMailboxKnown = !failures.mx && !isUnsettled && (hasExchange || !failures.named);
  // A record by itself, without a question for the exchanges, does not contradict an include.
  const isElsewhere = isMailboxKnown && evidence.dns.mx.status !== 'skipped';
  const judged: Finding[] = [];
  let isSenderUnsettled = false;
  /** An include that does not show a mailbox or gateway still permits the provider to send, once that is certain. */
  const addSender = (finding: Finding, isKnown: boolean) => {
    const { asSender: sender } = finding.rule;
    if (!sender) return;
    if (isKnown) judged.push(asSender(finding, sender));
    else isSenderUnsettled = true;
  };
  for (const finding of findings) {
    const { role, category, provider, asSender: sender } = finding.rule;
    if (role === 'mailbox') {
      const holding = mailbox.get(provider);
      if (holding !== undefined) judged.push(weakened(finding, holding));
      // A hint suggests a mailbox or a sender: both findings remain, each with its own strength. If the mailbox is elsewhere
      // the include is left of a former one four times as often as it is used, and shows nothing.
      if (holding === 'hint' || (holding === undefined && !isElsewhere)) addSender(finding, isMailboxKnown);
    } else if (category === 'email_security' && sender && !receives(provider, findings)) {
      addSender(finding, !failures.mx && !failures.dmarc);
    } else {
      judged.push(finding);
    }
  }
  return { findings: withoutLeftOvers(judged), unsettled: rolesOf(isUnsettled, isSenderUnsettled) };
}

/** A finding other than an include shows the gateway. */
function receives(provider: string, findings: readonly Finding[]): boolean {
  return findings.some(
    ({ rule }) => rule.category === 'email_security' && !rule.asSender && rule.provider === provider,
  );
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

/** The provider does not serve the name of a dangling alias: a leftover unless another finding supports it. */
function isBorneOut({ rule, isDangling }: Finding, _: number, all: readonly Finding[]): boolean {
  if (!isDangling) return true;
  return all.some((other) => other.rule.service === rule.service && !other.isDangling);
}

/**
 * The evidence that a provider holds the mailbox. `lone alias`: of one channel, and no gateway hides the mailbox;
 * `permitted alias`: the policy includes the provider as well.
 */
type Holding = 'exchange' | 'alias' | 'permitted alias' | 'lone alias' | 'hint';

function asSender({ rule, value, strength }: Finding, sender: Rule): Finding {
  return findingOf(sender, value, { strength: (strength / rule.strength) * sender.strength });
}

function weakened(finding: Finding, holding: Holding): Finding {
  if (holding === 'lone alias') return { ...finding, strength: finding.strength * LONE_SETUP_FACTOR };
  return holding === 'permitted alias' ? { ...finding, strength: finding.strength * PERMITTED_SETUP_FACTOR } : finding;
}

interface MailboxHolders {
  readonly holders: ReadonlyMap<string, Holding>;
  /** A failed look-up leaves open whether there is another holder, or none. */
  readonly isUnsettled: boolean;
}

const NO_HOLDERS: MailboxHolders = { holders: new Map(), isUnsettled: false };
const UNKNOWN_HOLDERS: MailboxHolders = { holders: new Map(), isUnsettled: true };

/** Providers of the mailbox. Without an answer about the exchanges nothing else decides. */
function mailboxHolders(findings: readonly Finding[], { mail, failures }: Reading): MailboxHolders {
  if (mail === 'none' || failures.mx) return NO_HOLDERS;
  const isPolicyUnknown = failures.txt || failures.policies;
  const candidates = findings.filter(({ rule }) => rule.role === 'mailbox');
  if (candidates.length === 0) return isPolicyUnknown ? UNKNOWN_HOLDERS : NO_HOLDERS;
  const byExchange = candidates.filter(({ isPreferred }) => isPreferred);
  if (byExchange.length > 0) return { holders: holders(byExchange, 'exchange'), isUnsettled: false };
  const fronts = findings.filter(({ rule, isPreferred }) => rule.category === 'email_security' && isPreferred);
  const isBehindGateway = fronts.length > 0;
  // A forwarder sends mail to addresses of other domains: it hides no mailbox.
  const isHidden = fronts.some(({ rule }) => rule.role === 'gateway');
  // Behind a gateway, an exchange that is not preferred is where mail is forwarded; before the domain's own it only
  // queues.
  const shown = candidates.filter(
    ({ rule, isPreferred }) => !HINTS.has(rule.channel) && (isPreferred === undefined || isBehindGateway),
  );
  if (shown.length > 0) {
    const permitted = new Set(candidates.filter(({ rule }) => rule.channel === 'spf').map(({ rule }) => rule.provider));
    const settled = uncontested(shown, permitted, { isPolicyUnknown });
    const byAlias = holders(settled, 'alias');
    for (const provider of byAlias.keys()) {
      const channels = channelsOf(settled, provider);
      // The network of an exchange is no leftover.
      if (isHidden || channels.size > 1 || channels.has('mail-asn')) continue;
      byAlias.set(provider, permitted.has(provider) ? 'permitted alias' : 'lone alias');
    }
    return { holders: byAlias, isUnsettled: isPolicyUnknown && settled.length < shown.length };
  }
  if (!isHidden || failures.named || isPolicyUnknown) return isPolicyUnknown ? UNKNOWN_HOLDERS : NO_HOLDERS;
  return { holders: holders(strongestHinted(candidates), 'hint'), isUnsettled: false };
}

/**
 * Client set-up or selectors alone may be leftovers of a dormant account. If the policy names another mailbox provider and
 * not this one, neither is certain; if the policy is not available, the mailbox is undecided.
 */
function uncontested(
  shown: readonly Finding[],
  permitted: ReadonlySet<string>,
  { isPolicyUnknown }: { readonly isPolicyUnknown: boolean },
): readonly Finding[] {
  return shown.filter(({ rule: { provider } }) => {
    const channels = channelsOf(shown, provider);
    if (channels.size > 1 || channels.has('mx')) return true;
    return !isPolicyUnknown && (permitted.size === 0 || permitted.has(provider));
  });
}

function channelsOf(findings: readonly Finding[], provider: string): ReadonlySet<Channel> {
  const live = findings.filter(({ rule, isDangling }) => rule.provider === provider && !isDangling);
  return new Set(live.map(({ rule }) => rule.channel));
}

function holders(findings: readonly Finding[], holding: Holding): Map<string, Holding> {
  return new Map(findings.map(({ rule }) => [rule.provider, holding]));
}

/** If two providers have equal hints the mailbox is unknown. */
function strongestHinted(candidates: readonly Finding[]): readonly Finding[] {
  const doubt = new Map<string, number>();
  const keys = new Set<string>();
  for (const { rule, strength } of candidates) {
    const key = `${rule.provider} ${rule.channel}`;
    if (keys.has(key)) continue;
    keys.add(key);
    doubt.set(rule.provider, (doubt.get(rule.provider) ?? 1) * (1 - strength));
  }
  const [first, second] = [...doubt].sort((a, b) => a[1] - b[1]);
  if (!first || (second && second[1] === first[1])) return [];
  return candidates.filter(({ rule }) => rule.provider === first[0]);
}
