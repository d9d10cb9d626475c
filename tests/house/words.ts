// Words that this project does not use, each with the standard term to write instead, and where they still stand.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Retired anywhere: in prose, and as a part of an identifier (`toldPeers`, `MAX_PLACES`). */
const WORDS: Record<string, string> = {
  'tell|tells|told|telling|tellings|teller|untold': 'publish, emit, notify, report, announce, distinguish',
  'said|heard|hears': 'received, reported; output, message',
  'books|bookkeeping': 'usage, accounting, ledger',
  'pulse|pulses|beat|beats|wish|wishes': 'tick, update, heartbeat, schedule',
  rests: 'backoff',
  'place|places': 'slot (concurrency), position, cursor, address, path, location',
  'room|rooms|roomy': 'capacity, buffer, space',
  'look|looks|looked|looking': 'scan, fetch, query, inspect, check, search',
  'sight|sighting|sightings|seen': 'observation, observed, known',
  'newcomer|newcomers': 'newly observed provider, new worker, new client',
  'standings|mend|mends|mended|mendable': 'reputation; fix, repair',
  'trouble|troubles|hurt': 'error, failure, problem',
  'whole|wholes': 'complete, full, entire, all of',
  'seldom|parted|hence|meanwhile|beyond|besides|anew':
    'rarely, throttled; split; so; while; more than, in addition; again',
  'pace|paces|paced': 'rate limit, rate, interval',
  'gone|lent|lend|lends': 'removed, offline; contributed, offered',
  'somebody|nobody|whoever|everybody|anybody|stranger|strangers': 'name the actor: a client, no worker, any process',
  others: 'other workers, other processes: name the noun',
  'bite|bites|door|doors|hall|crowd|crowds': 'chunk; endpoint, limit; group',
};

/** Retired as a part of an identifier of several words. */
const IN_NAMES: Record<string, string> = {
  'most|least': 'max, min',
};

/** Retired sequences of words. */
const PHRASES: Record<string, string> = {
  'in turn|(?:its|their|whose|my) turn|takes? (?:a|its|their) turns?|by turns': 'lock, queue, sequentially, batch',
  'on (?:the|its|their) way|ways in|way in|under ?way|gives? way|given way|giving way|by the way':
    'path, in flight, in progress, yield',
  '(?:ended|ends|all|went|goes|is|are|works|end) well(?!-)|well or (?:not|badly)': 'ok, healthy, successful',
  'in (?:its |their |the |other |plain |few |one )?words|words of': 'text, message, label, description',
  'side by side|be found|lets? go|at one go': 'concurrently; advertise; release; at once',
  'mind the|all in all|in fact|as it stands|as such|no less': 'note, overall, actual, current',
  '(?:it|that|this|which|what) is no|none is|is none|are none|none are|that is none': 'is not a, there is no',
  'who follows|follows? the (?:store|log|events)': 'replica, subscriber; consume',
  'goes? by the|go by what|stands? (?:in|at|there|here|still|on|for)': 'uses; is in, is at',
  'for ever|ever so|so long as': 'forever, as long as',
};

/** The field's own terms, other projects' names, and public contracts: not counted. */
const ALLOWED = [
  // Words of users' questions, in packages/questions/src/chat.
  /\b(?:look march|technology tell|tell me about)\b/g,
  /\bin[- ]place\b/gi,
  /\btakes? place\b/gi,
  /\bdecimal places?\b/gi,
  /\blook(?:s|ed|ing)?[- ]?ups?\b/gi,
  /\blooks? like\b/gi,
  /\b410\W+gone\b|\bgone\b(?=\W+410)/gi,
  /\b(?:first|last)(?:_s|S| s)een\b/g,
  /\bseen\.(?:has|add)\b|\bconst seen = new (?:Set|Map)\b/g,
  /\bleast[- _]?(?:loaded|conn)\b/gi,
  /\bstrata_(?:inference|worker)_places\b|\bSTRATA_UPSTREAM_PLACES\b/g,
  /\bisWellFormed\b|\bseenTTL\b|\bplace-items\b|--lend-key\b|\blendKey\b|\blook-around\b|\bmostCommon\b/g,
  /\b(?:azure[- ])?front[-. ]door\b/gi,
  // The first words of an answer of the demo's model, which its weights determine.
  /\bDMARC tells\b/g,
  /\bat (?:least|most)\b|\bat(?:Least|Most)\b|\bAT_(?:LEAST|MOST)\b/g,
];

/** Names of public contracts and stored data that cannot change, with the files that know them. */
const CONTRACTS: readonly { readonly word: string; readonly files: RegExp; readonly why: string }[] = [
  { word: 'gone', files: /feed|stack-types|\/schema\.ts$/, why: 'status of a feed' },
  {
    word: 'nobody',
    files:
      /^packages\/detect\/src\/(?:judge|posture|profile)|questions\/concentration|index\/tallies|test\/check-index/,
    why: 'a holder in stored profiles',
  },
  { word: 'pulse', files: /network|session|serve-channel|stall-watch/, why: 'kind of a frame of the wire protocol' },
  {
    word: 'whole',
    files: /^packages\/client\/|^web\/src\/chat\/|\/web\/(?:home\.test|chat-page)/,
    why: 'state of a stored answer',
  },
  {
    word: 'standings|seen|tellings',
    files: /^packages\/(?:store|db)\/|\/src\/store\/|storage\.md$|known-peers/,
    why: 'tables, columns, files',
  },
  {
    word: 'place',
    files: /sector-types|operations\.md$|survival\/scenario/,
    why: 'a type of schema.org; a heading of the survival table',
  },
  { word: 'hall', files: /sector-types/, why: 'a type of schema.org' },
  { word: 'others', files: /routes\/market\/customers/, why: 'a column of a CSV export' },
  { word: 'crowd', files: /spf-suite/, why: 'a domain of vectors/spf.json' },
  { word: 'rests', files: /notary/, why: 'a signed notice' },
  { word: 'books', files: /companies\/names/, why: 'part of a company name' },
  { word: 'stranger', files: /dns\/vantage/, why: 'a domain of the simulated internet' },
  { word: 'gone', files: /^packages\/testnet\//, why: 'labels of the simulated internet' },
  { word: 'words of', files: /address-ranges/, why: '32-bit words' },
  { word: 'beyond|that is no', files: /network\/test\/vectors/, why: 'titles of vectors' },
];

export interface RetiredWord {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly write: string;
  readonly text: string;
}

interface Term {
  readonly pattern: RegExp;
  readonly write: string;
}

const compile = (table: Record<string, string>): Term[] =>
  Object.entries(table).map(([words, write]) => ({ pattern: new RegExp(`\\b(?:${words})\\b`, 'gi'), write }));

const everywhere = compile({ ...WORDS, ...PHRASES });
const inNames = compile(IN_NAMES);

const IDENTIFIER_OF_SEVERAL_WORDS = /[A-Za-z]+(?:[a-z0-9][A-Z]|_)\w*/g;

/** An identifier as words: `maxPlaces` and `MAX_PLACES` are `max places`. */
const split = (text: string) => text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/_/g, ' ');

/** The retired words of one line of text, each with what to write. */
export function retiredIn(line: string): { word: string; write: string }[] {
  const rest = ALLOWED.reduce((text, allowed) => text.replace(allowed, ' '), line);
  const names = (rest.match(IDENTIFIER_OF_SEVERAL_WORDS) ?? []).join('\n');
  const found = (terms: readonly Term[], text: string) =>
    terms.flatMap(({ pattern, write }) => [...split(text).matchAll(pattern)].map(([word]) => ({ word, write })));
  return [...found(everywhere, rest), ...found(inNames, names)];
}

const TEXT = /\.(?:ts|tsx|mjs|sh|css|html|md|sql|conf|service|yaml|yml)$|^deploy\/|^\.ci\//;

/** Lists what they are about: the table above, and the project's own history. */
const EXEMPT = /^(?:tests\/house\/|docs\/decisions\/|LICENSE$)/;

const isContract = (file: string, found: string) =>
  CONTRACTS.some(({ word, files }) => files.test(file) && new RegExp(`^(?:${word})$`, 'i').test(found));

/** Retired words in the files that git knows, below `folders` where some are named. */
export function retiredWords(root: string, folders: readonly string[] = []): RetiredWord[] {
  const files = execFileSync('git', ['ls-files', '--', ...folders], { cwd: root, encoding: 'utf8' }).split('\n');
  return files
    .filter((file) => TEXT.test(file) && !EXEMPT.test(file))
    .flatMap((file) =>
      readFileSync(path.join(root, file), 'utf8')
        .split('\n')
        .flatMap((text, at) => retiredIn(text).map((hit) => ({ file, line: at + 1, ...hit, text: text.trim() })))
        .filter(({ word }) => !isContract(file, word)),
    );
}

if (import.meta.main) {
  const folders = process.argv.slice(2);
  const found = retiredWords(path.join(import.meta.dirname, '../..'), folders);
  for (const { file, line, word, write, text } of found) console.log(`${file}:${line}: '${word}' (${write}): ${text}`);
  console.log(`${found.length} retired words`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
