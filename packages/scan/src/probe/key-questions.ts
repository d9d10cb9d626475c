// The DKIM selectors of the rulebook: asked only where `_domainkey` exists; the answer of a wildcard is no key.
import type { Lookup } from '@strata/detect';
import type { Ask } from '../dns/ask.ts';
import { noRecords } from '../dns/message/answer.ts';

/**
 * Selectors of the two most used mailbox providers, asked in any case: some servers answer NXDOMAIN for a name that exists
 * only because of names below it (RFC 8020 §4), or a wildcard's records. A key shows such a server, and all selectors are asked.
 */
export const WITNESSES: readonly string[] = ['google._domainkey', 'selector1._domainkey'];
const WILDCARD: Lookup<string> = noRecords('empty', 'a wildcard answer');

interface KeyDeps {
  readonly ask: Ask;
  readonly askText: (label: string) => Promise<Lookup<string>>;
}

type Answered = readonly [label: string, lookup: Lookup<string>];

/** TXT of each label, in order. `random` is a label that does not exist. Most domains need three or four queries. */
export async function askKeys(
  domain: string,
  labels: readonly string[],
  random: string,
  { ask, askText }: KeyDeps,
): Promise<readonly Answered[]> {
  if (labels.length === 0) return [];
  const [root, ...witnesses] = await Promise.all([
    askText('_domainkey'),
    ...labels.filter((label) => WITNESSES.includes(label)).map(askText),
  ]);
  // RFC 8020 §2: no name exists below a name that does not exist.
  if (root.status === 'nxdomain' && root.aliases.length === 0 && !witnesses.some(isPublished))
    return labels.map((label) => [label, root]);
  // A wildcard below `_domainkey` would have answered a witness that does not exist (RFC 4592 §3.3.1).
  const absent = witnesses.find(({ status, aliases }) => status === 'nxdomain' && aliases.length === 0);
  const unpublished = absent ?? (await askText(`${random}._domainkey`));
  const isSame = (lookup: Lookup<string>) => isSameAnswer(lookup, unpublished);
  if ([root, ...witnesses].every(isSame) && (await hasPlainWildcard(ask, domain, random)))
    return labels.map((label) => [label, isPublished(root) ? WILDCARD : root]);
  const answers = await Promise.all(labels.map(async (label) => [label, await askText(label)] as const));
  if (!isPublished(unpublished)) return answers;
  return answers.map(([label, lookup]) => [label, isSame(lookup) ? WILDCARD : lookup]);
}

/**
 * Whether a wildcard of the zone answers names below `_domainkey`, so that it does not exist (RFC 4592 §3.3.1). Signed zones are
 * left out: some answer NOERROR for every name (RFC 9824 §2).
 */
async function hasPlainWildcard(ask: Ask, domain: string, random: string): Promise<boolean> {
  const [wildcard, ds] = await Promise.all([ask(`${random}.${domain}`, 'A'), ask(domain, 'DS')]);
  return isPublished(wildcard) && ds.status === 'empty';
}

function isPublished({ records, aliases }: Lookup<string>): boolean {
  return records.length > 0 || aliases.length > 0;
}

function isSameAnswer(a: Lookup<string>, b: Lookup<string>): boolean {
  return a.status === b.status && isSameList(a.aliases, b.aliases) && isSameList(sorted(a), sorted(b));
}

function sorted({ records }: Lookup<string>): readonly string[] {
  return records.length > 1 ? records.toSorted() : records;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
