// Answers a sentence with numbers of the service: chooses the tools, asks them, and writes Markdown with links to page and receipt.
import { type Service, type StackClient, type StackPaths, StackProblem } from '@strata/client';
import { type Asked, ask } from '../ask.ts';
import { domainChanges, domainProfile, search } from '../questions/domains.ts';
import { marketShare, migrations } from '../questions/markets.ts';
import { leaderboard, provider } from '../questions/providers.ts';
import { receiptOf } from '../receipt.ts';
import { shortText } from '../shorten.ts';
import { conditionAnswer, unreadAnswer } from './conditions/condition-answer.ts';
import { escaped, escapedLine } from './escaped.ts';
import { type Intent, intentOf, MAX_QUESTION, type Subject } from './intent.ts';
import {
  type Changes,
  changeLines,
  comparisonLine,
  growthLines,
  moverLines,
  type Profile,
  type ProviderPage,
  postureLines,
  profileLines,
  providerLines,
} from './subject-lines.ts';
import type { TimeWindow } from './times.ts';
import { domainCall, hasWindow, marketCall, providerCall, type ToolCall } from './tools.ts';
import { kindOfName } from './topics.ts';

export interface ChatDeps {
  readonly client: StackClient;
  /** URL of the explorer, which is the origin of the service. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

type Leaders = StackPaths['/stack/v1/stats/providers']['body'];
type Migrations = StackPaths['/stack/v1/stats/migrations']['body'];
type Markets = StackPaths['/stack/v1/intelligence/market-share']['body'];

const EXAMPLES = [
  'Which email provider does example.com use?',
  'How risky is example.com?',
  'How many domains use Cloudflare?',
  'Which customers did GoDaddy lose?',
  'Compare Cloudflare and Fastly.',
  'Which domains in Germany use Cloudflare, but not Google Workspace?',
  'How is the market of DNS providers divided?',
  'How many domains publish DMARC?',
  'What is unusual today?',
];

const HELP = [
  "I answer from Strata's data, with what it contains about domains, providers and markets, and found none of them in this question. I can answer, for example:",
  ...EXAMPLES.map((example) => `- ${example}`),
];

/**
 * The paragraphs and list items of the answer, as Markdown. `messages`: the texts of the user, oldest first. Rejects with a `StackProblem`
 * if the service cannot answer, or with the signal's reason; a name that it does not know is an answer.
 */
export async function chatAnswer(messages: readonly string[], deps: ChatDeps): Promise<readonly string[]> {
  const [text = '', earlier] = messages.slice(-2).reverse();
  return answerOf(text, earlier, deps).catch((error) => {
    const [problem] = timeProblems(error);
    if (!problem) throw error;
    return [`I cannot answer for this time: the field ${problem.field} ${escaped(shortText(problem.message, 300))}.`];
  });
}

/** What the service says about the time of a question, such as that its data does not go back so far. */
const timeProblems = (error: unknown): StackProblem['errors'] =>
  error instanceof StackProblem ? error.errors.filter(({ field }) => field === 'since' || field === 'until') : [];

async function answerOf(text: string, earlier: string | undefined, deps: ChatDeps): Promise<readonly string[]> {
  if (text.length > MAX_QUESTION)
    return [`This question is too long: I read at most ${MAX_QUESTION} characters.`, ...HELP.slice(1)];
  const ofSet = await conditionAnswer({ text, earlier }, conditionDeps(deps));
  if (ofSet) return ofSet;
  const intent = intentOf(text, earlier);
  if (!intent) return HELP;
  const { topic, subjects, category, time } = intent;
  if (time && !(time.window && hasWindow(topic, time.window)))
    return unreadAnswer([time.text], '', conditionDeps(deps));
  if (subjects.length === 0) return (await section(marketCall(intent, time?.window), deps, { topic })).lines;
  const [domain, named] = pairOf(subjects);
  const answered = domain ? [domain] : subjects;
  const answers: SubjectAnswer[] = [];
  for (const subject of answered) answers.push(await subjectAnswer(subject, intent, deps, named));
  // `Who won the world cup?` asks about nothing that the data contains.
  if (!intent.hasDataWords && answers.every(({ isUnknown }) => isUnknown)) return [noneKnown(answered), ...HELP];
  const lines = answers.flatMap((each) => each.lines);
  if (!intent.isComparison || answered.length < 2) return lines;
  const kind = answered.every(({ isDomain }) => isDomain) ? 'domains' : 'providers';
  const names = answered.map(({ names: all }) => all.at(-1)).join(',');
  const pages = answers.flatMap(({ page }) => page ?? []);
  const compared = pages.length === answered.length ? [escapedLine(comparisonLine(pages, category))] : [];
  return [...compared, ...lines, `[Compare them](${link(deps, `/compare?${new URLSearchParams({ [kind]: names })}`)})`];
}

const conditionDeps = (deps: ChatDeps): Parameters<typeof conditionAnswer>[1] => ({
  provider: (name) => providerOf(name, deps),
  section: async (call) => (await section(call, deps)).lines,
  count: async (query) =>
    (await deps.client.get('/stack/v1/search', { query: { query, limit: 1 } }, { signal: deps.signal })).body.total,
  link: (path) => link(deps, path),
});

/** `Does example.com use Cloudflare?`: the domain, and the provider that may serve it. */
function pairOf(subjects: readonly Subject[]): readonly [Subject?, (string | undefined)?] {
  const [domain] = subjects.filter(({ isDomain }) => isDomain);
  const [other] = subjects.filter(({ isDomain }) => !isDomain);
  return subjects.length === 2 && domain && other ? [domain, other.names.at(-1)] : [];
}

interface Section {
  readonly lines: readonly string[];
  /** Of the question about a provider. */
  readonly page?: ProviderPage | undefined;
}

interface SubjectAnswer extends Section {
  /** The service knows no domain, provider or company of this name; false of the form of a domain name. */
  readonly isUnknown: boolean;
}

const noneKnown = (subjects: readonly Subject[]): string =>
  `I do not know: ${subjects.map(({ names }) => `“${escaped(names.at(-1) ?? '')}”`).join(' and ')} is no domain, provider or company in this data.`;

async function subjectAnswer(
  subject: Subject,
  intent: Intent,
  deps: ChatDeps,
  named: string | undefined,
): Promise<SubjectAnswer> {
  const { topic, category } = intent;
  const window = intent.time?.window;
  const filter = { topic, category, named, window };
  const asDomain = (name: string) => section(domainCall(topic, name, filter), deps, filter);
  const asProvider = (name: string) => section(providerCall(topic, name, window), deps, { category });
  // `How many domains use name.com?` asks for a provider.
  const isOfProviders = topic === 'count' || topic === 'share' || topic === 'adoption';
  const readings = subject.isDomain ? (isOfProviders ? [asProvider, asDomain] : [asDomain, asProvider]) : [asProvider];
  let unknown: StackProblem | undefined;
  for (const read of readings)
    for (const name of subject.names) {
      try {
        return { ...(await read(name)), isUnknown: false };
      } catch (error) {
        if (!isUnknown(error)) throw error;
        // What the service says about a domain is better than that it is not a provider.
        if (!unknown || read === asDomain) unknown = error;
      }
    }
  const [name = ''] = subject.names.slice(-1);
  if (subject.isDomain) return { lines: unknownAnswer(name, unknown), isUnknown: false };
  const isAlone = intent.subjects.length === 1 && !isOfProviders;
  if (!intent.hasDataWords && !isAlone) return { lines: unknownAnswer(name, unknown), isUnknown: true };
  return companyAnswer(name, unknown, { deps, asDomain });
}

/** A name that is not a provider's: the domain that has its words, if there is one. */
async function companyAnswer(
  name: string,
  unknown: StackProblem | undefined,
  { deps, asDomain }: { readonly deps: ChatDeps; readonly asDomain: (domain: string) => Promise<Section> },
): Promise<SubjectAnswer> {
  const { answer } = await asked({ question: search, input: { q: name, limit: 4 } }, deps).catch((error) => {
    if (!isUnknown(error)) throw error;
    return { answer: { body: {} } };
  });
  const { results } = Object(answer.body) as { readonly results?: readonly { readonly domain: string }[] };
  const word = name.replaceAll(/[\s.'’&-]/g, '').toLowerCase();
  const all = Array.isArray(results) ? results.map(({ domain }) => String(domain)) : [];
  // The search takes the words in any order; a company's name is in one label.
  const found = all.filter((each) => labelOf(each).includes(word));
  const [one] = found.filter((each) => labelOf(each) === word);
  if (one !== undefined) return { ...(await asDomain(one)), isUnknown: false };
  if (found.length === 0) return { lines: unknownAnswer(name, unknown), isUnknown: true };
  const known = `I do not know a provider or company “${escaped(name)}”. Domains with this text: ${found.map(escaped).join(', ')}.`;
  return { lines: [known], isUnknown: true };
}

const labelOf = (domain: string): string => domain.slice(0, domain.indexOf('.')).replaceAll('-', '');

function unknownAnswer(name: string, problem: StackProblem | undefined): readonly string[] {
  const detail = [problem?.detail, ...(problem?.errors ?? []).map(({ message }) => message)].find((each) => each);
  return [`I do not know “${escaped(name)}”.${detail ? ` ${escaped(shortText(detail, 300))}` : ''}`];
}

const isUnknown = (error: unknown): error is StackProblem =>
  error instanceof StackProblem &&
  timeProblems(error).length === 0 &&
  (error.status === 404 || error.status === 400 || error.code === 'invalid_parameter');

function asked(
  { question, input }: Pick<ToolCall, 'question' | 'input'>,
  { client, signal }: ChatDeps,
): Promise<Asked> {
  return ask(question, question.input.parse(input) as Record<string, unknown>, { client, signal });
}

interface Filter {
  readonly topic?: Intent['topic'];
  readonly category?: Intent['category'];
  readonly named?: string | undefined;
  readonly window?: TimeWindow | undefined;
}

async function section(call: ToolCall, deps: ChatDeps, filter: Filter = {}): Promise<Section> {
  const { answer, lines } = await asked(call, deps);
  const chosen = await chosenLines(call.question.name, answer.body, filter, deps);
  const { receipt } = receiptOf(answer.body);
  const links = [
    `[${escaped(titleOf(call))} in the explorer](${link(deps, call.page)})`,
    ...(receipt
      ? [`[receipt ${receipt.receipt_id}](${link(deps, `/ledger/receipts/${receipt.ledger_receipt_id}`)})`]
      : []),
    ...(receipt ? [`signed ${receipt.signed_at}`] : []),
  ];
  const page = call.question.name === provider.name ? (answer.body as ProviderPage) : undefined;
  return { lines: [...(chosen ?? lines).slice(0, MAX_LINES).map(escapedLine), `${links.join(' · ')}.`], page };
}

const MAX_LINES = 24;

/** What was asked for of the answer; undefined: the lines of the question. */
async function chosenLines(name: string, body: unknown, filter: Filter, deps: ChatDeps) {
  switch (name) {
    case leaderboard.name:
      return filter.topic === 'adoption' ? growthLines((body as Leaders).providers) : undefined;
    case migrations.name:
      return filter.topic === 'lost' || filter.topic === 'gained' ? moverLines(body as Migrations) : undefined;
    case marketShare.name:
      return filter.topic === 'adoption'
        ? growthLines((body as Markets).categories.flatMap(({ providers }) => providers))
        : undefined;
    case domainProfile.name:
      return filter.topic === 'security' && filter.named === undefined
        ? postureLines(body as Profile)
        : serviceLines(body as Profile, filter, deps);
    case domainChanges.name:
      return filter.window && changeLines(body as Changes, filter.window);
    case provider.name:
      return filter.category && providerLines(body as ProviderPage, filter.category);
    default:
      return undefined;
  }
}

/** `example.com`, `cloudflare`, `migrations` */
const titleOf = ({ input: { domain, provider, tool }, page }: ToolCall): string =>
  String(domain ?? provider ?? tool ?? /\w+/.exec(page)?.[0]);

/** Only the services that were asked for, of the complete profile; undefined without a filter. */
async function serviceLines(
  body: Profile,
  { category, named }: Filter,
  deps: ChatDeps,
): Promise<readonly string[] | undefined> {
  if (category === undefined && named === undefined) return undefined;
  const known = named === undefined ? undefined : await providerOf(named, deps);
  const kind = kindOfName(named ?? '');
  const isNamed = ({ provider_id, provider: name, kinds }: Service) =>
    named === undefined ||
    provider_id === known?.provider_id ||
    hasWords(name, named) ||
    kinds.some((each) => each === kind);
  const ofCategory = body.services.filter((each) => category === undefined || each.category === category);
  const chosen = ofCategory.filter(isNamed);
  if (chosen.length > 0) return profileLines(body, chosen);
  const what = [known?.provider ?? named, category?.replaceAll('_', ' ')]
    .filter((each) => each !== undefined)
    .join(' as ');
  const hidden = Object.entries(body.roles).filter(([, state]) => state === 'unmeasured' || state === 'blocked');
  const owner = known?.owner ?? '';
  const ofOwner = known ? ofCategory.filter(({ provider: name }) => hasWords(name, owner)) : [];
  const [first = '', ...related] = profileLines(body, ofOwner);
  return [
    first,
    `None of its ${body.services.length} detected services is ${what}${named === undefined || known || kind ? '' : ', which is not a provider that I know'}.`,
    ...(hidden.length > 0 ? [`The scan could not see its ${hidden.map(([role]) => role).join(', ')}.`] : []),
    ...(related.length > 0 ? [`With the same owner, ${owner}:`, ...related] : []),
  ];
}

/** The provider of a name, id or alias. */
async function providerOf(name: string, { client, signal }: ChatDeps): Promise<ProviderPage | undefined> {
  const input = { path: { provider: name }, query: { limit: 1 } };
  try {
    return (await client.get('/stack/v1/providers/{provider}', input, { signal })).body;
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
}

/** `Google Workspace` has the words `google`. */
const hasWords = (name: string, words: string): boolean =>
  ` ${name} `.toLowerCase().includes(` ${words.toLowerCase()} `);

const link = ({ baseUrl }: ChatDeps, path: string): string => new URL(path, baseUrl).href;
