// What a sentence asks about: a topic, the names in it, and a category. Pure, and linear in its length.
import type { Category } from '@strata/detect';
import { isRank, SET_NOUNS } from './conditions/condition-words.ts';
import { type Time, timeIn } from './times.ts';
import { categoryAt, isOtherWord, TOPICS, type Topic, topicOf } from './topics.ts';
import { domainIn, splitWords, withoutPossessive } from './words.ts';

export interface Subject {
  /** The name, and further readings of it: `Cloudflare DNS`, `Cloudflare`. */
  readonly names: readonly string[];
  /** Has the form of a domain name. */
  readonly isDomain: boolean;
}

export interface Intent {
  readonly topic: Topic;
  /** At most `MAX_SUBJECTS`, in the order of the sentence. */
  readonly subjects: readonly Subject[];
  readonly category: Category | undefined;
  readonly isComparison: boolean;
  /**
   * The sentence alone shows that it is about the data: it names a domain, a category or a topic, or says who uses what. `What is Strata?` may
   * also be a question to a language model.
   */
  readonly isAboutData: boolean;
  /** Words other than names and everyday verbs (`won`, `left`, `many`) are about the data: `Who uses Acme?` */
  readonly hasDataWords: boolean;
  readonly time: Time | undefined;
  /** `Which domains does CVE-2026-1 affect?`: the domains, not the vulnerabilities. */
  readonly asksForDomains: boolean;
  readonly isOfExploited: boolean;
  /** Its id, in lower case. */
  readonly advisory: string | undefined;
}

/** Characters; longer texts are not questions about a name. */
export const MAX_QUESTION = 500;
const MAX_SUBJECTS = 3;
/** A longer run of words is not a name. */
const MAX_NAME_WORDS = 6;
/** The service takes no longer ones. */
const MAX_NAME_LENGTH = 253;

const ADVISORY = /^(?:cve-\d{4}-\d{4,}|ghsa(?:-[0-9a-z]{4}){3})$/;

const COMPARISON_WORDS = new Set(['compare', 'comparison', 'compared', 'vs', 'versus', 'difference']);
const USE_WORDS = new Set(['uses', 'used', 'using', 'provider', 'providers', 'domains', 'customers']);

/**
 * Undefined for a text that asks about nothing that the service knows. `earlier`: the question before it, which has the name that
 * `its` refers to.
 */
export function intentOf(text: string, earlier?: string): Intent | undefined {
  if (text.length > MAX_QUESTION) return undefined;
  const { time, rest } = timeIn(splitWords(text));
  const words = rest.map(({ raw }) => raw);
  const lower = words.map((word) => word.toLowerCase());
  const topics = new Set(lower.flatMap((word) => topicOf(word) ?? []));
  const { subjects: own, category } = namesIn(words, lower);
  const asksForMore = own.length > 1 && ['more', 'bigger', 'larger'].some((word) => lower.includes(word));
  const isComparison = lower.some(
    (word, at) =>
      COMPARISON_WORDS.has(word) ||
      (word === 'or' && asksForMore) ||
      // `more than Fastly`, not `more than 10`.
      (word === 'than' && /^\p{L}/u.test(lower[at + 1] ?? '')),
  );
  const refers = own.length === 0 && lower.some((word) => ['it', 'its', 'they', 'their', 'them'].includes(word));
  const subjects = refers && earlier !== undefined ? (intentOf(earlier)?.subjects ?? []) : own;
  // `What is DMARC?` asks for an explanation, which the data does not contain.
  const asksNumbers = subjects.length > 0 || ['count', 'share', 'adoption'].some((topic) => topics.has(topic as never));
  if (!asksNumbers && !lower.includes('domains')) topics.delete('security');
  const topic = directed(TOPICS.find((each) => topics.has(each)) ?? 'overview', lower);
  if (subjects.length === 0 && category === undefined && topic === 'overview') return undefined;
  const hasDataWords = category !== undefined || isTechnical(topic) || lower.some((word) => USE_WORDS.has(word));
  const isAboutData =
    topic !== 'overview' ||
    category !== undefined ||
    subjects.some(({ isDomain }) => isDomain) ||
    (subjects.length > 0 && (isComparison || hasDataWords));
  return {
    ...{ topic, subjects: subjects.slice(0, MAX_SUBJECTS), category, isComparison, isAboutData, hasDataWords, time },
    asksForDomains: lower.some((word) => SET_NOUNS.has(word)) || lower.includes('who'),
    isOfExploited: lower.some((word) => word.startsWith('exploited')),
    advisory: lower.find((word) => ADVISORY.test(word)),
  };
}

const isTechnical = (topic: Topic): boolean => topic === 'security' || topic === 'vulnerabilities';

/** `moved to`, `moved from`. */
function directed(topic: Topic, words: readonly string[]): Topic {
  if (topic !== 'moves') return topic;
  return words.includes('from') ? 'lost' : words.includes('to') ? 'gained' : topic;
}

function namesIn(words: readonly string[], lower: readonly string[]): Pick<Intent, 'subjects' | 'category'> {
  const subjects: Subject[] = [];
  let category: Category | undefined;
  let name: string[] = [];
  let withCategory: string[] = [];
  const endName = () => {
    if (name.length > 0 && name.length <= MAX_NAME_WORDS) {
      const names = [withCategory, name]
        .filter(({ length }) => length > 0)
        .map((each) => withoutPossessive(each.join(' ')))
        .filter(({ length }) => length <= MAX_NAME_LENGTH);
      if (names.length > 0) subjects.push({ names: [...new Set(names)], isDomain: false });
    }
    name = [];
    withCategory = [];
  };
  for (let at = 0; at < words.length; at += 1) {
    const [word, low] = [words[at] ?? '', lower[at] ?? ''];
    const domain = domainIn(low);
    const found = categoryAt(lower, at);
    if (domain !== undefined) {
      endName();
      subjects.push({ names: [domain], isDomain: true });
    } else if (found) {
      category ??= found.category;
      // Also part of a name: `Google Cloud DNS`.
      if (name.length > 0) withCategory = [...name, ...words.slice(at, at + found.length)];
      at += found.length - 1;
      if (name.length === 0) endName();
    } else if (isOtherWord(low) || topicOf(low) !== undefined || isRank(lower, at)) endName();
    else if (withCategory.length > 0) {
      endName();
      name = [word];
    } else name.push(word);
  }
  endName();
  const domains = subjects.filter(({ isDomain }) => isDomain);
  // With a domain, one further name is the provider that it is asked for; more words are noise, such as the path of a URL.
  const providers = subjects.filter(({ isDomain }) => !isDomain);
  return { subjects: domains.length > 0 && providers.length > 1 ? domains : subjects, category };
}
