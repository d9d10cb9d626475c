// Words that this project does not use, each with the standard term to write instead, and where they still stand.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import words from './words.json' with { type: 'json' };

interface Lists {
  /** Retired anywhere: in prose, and as a part of an identifier (`toldPeers`, `MAX_PLACES`). */
  readonly words: Record<string, string>;
  /** Retired as a part of an identifier of several words. */
  readonly inNames: Record<string, string>;
  /** Retired sequences of words. */
  readonly phrases: Record<string, string>;
  /**
   * By the flags of their patterns: the field's own terms, other projects' names, public contracts, words of users' questions
   * (packages/questions/src/chat), and what an answer of the demo's model begins with. Not counted.
   */
  readonly allowed: Record<string, readonly string[]>;
  /** Names of public contracts and stored data that cannot change, with the files that know them. */
  readonly contracts: readonly { readonly word: string; readonly files: string; readonly why: string }[];
}

const lists: Lists = words;

const ALLOWED = Object.entries(lists.allowed).flatMap(([flags, patterns]) =>
  patterns.map((pattern) => new RegExp(pattern, flags)),
);

const CONTRACTS = lists.contracts.map(({ word, files }) => ({
  word: new RegExp(`^(?:${word})$`, 'i'),
  files: new RegExp(files),
}));

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

const everywhere = compile({ ...lists.words, ...lists.phrases });
const inNames = compile(lists.inNames);

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

/** Lists what they are about: words.json, and the project's own history. */
const EXEMPT = /^(?:tests\/house\/|docs\/decisions\/|LICENSE$)/;

const isContract = (file: string, found: string) =>
  CONTRACTS.some(({ word, files }) => files.test(file) && word.test(found));

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
