// Detection alone, of evidence as it lies in a store: nothing else has run in the process that could slow it or warm it.
import { readFileSync } from 'node:fs';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, loadCatalog, type Rulebook } from '@strata/detect';
import { childArgument, median, rateOf, reportReady, setting } from '../measure.ts';
import { multiplied } from './detection-rules.ts';

export interface DetectionSpeed {
  /** Domains a second. */
  readonly rate: number;
  readonly manyRate: number;
  /** Of the time with ten times the rules to the time with them once. */
  readonly slowdown: number;
  /** Of the rate to that of `JSON.parse` of the same evidence. */
  readonly ofParse: number;
}

const RUN_MS = setting('SECONDS', 0.6) * 1_000;
const { file } = childArgument<{ readonly file: string }>();
const texts = readFileSync(file, 'utf8').split('\n');
const evidence = texts.map((text) => JSON.parse(text) as Evidence);
const rulebook = compileRulebook(loadCatalog(entries));
const many = compileRulebook(loadCatalog(multiplied(entries, 10)));

const detectAll = (rules: Rulebook) => () => {
  for (const each of evidence) detect(each, rules);
  return evidence.length;
};
const parseAll = () => {
  for (const text of texts) JSON.parse(text);
  return texts.length;
};
const rates = Array.from({ length: 9 }, () => ({
  detect: rateOf(detectAll(rulebook), RUN_MS),
  many: rateOf(detectAll(many), RUN_MS),
  parse: rateOf(parseAll, RUN_MS / 2),
}));
const of = (pick: (each: (typeof rates)[number]) => number) => median(rates.map(pick));
const speed: DetectionSpeed = {
  rate: of((each) => each.detect),
  manyRate: of((each) => each.many),
  slowdown: of((each) => each.detect / each.many),
  ofParse: of((each) => each.detect / each.parse),
};
reportReady(speed, async () => {});
