// Detection alone, of evidence as it lies in a store: nothing else has run in the process that could slow it or warm it.
import { readFileSync } from 'node:fs';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, loadCatalog, type Rulebook } from '@strata/detect';
import { childArgument, median, rateOf, reportReady } from '../measure.ts';
import { multiplied } from './detection-rules.ts';

export interface DetectionSpeed {
  readonly providers: number;
  readonly manyProviders: number;
  /** Of one domain, on average. */
  readonly services: number;
  /** Domains a second. */
  readonly rate: number;
  readonly manyRate: number;
  /** Of the time with ten times the rules to the time with them once. */
  readonly slowdown: number;
  /** Of the rate to that of `JSON.parse` of the same evidence. */
  readonly ofParse: number;
}

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
  detect: rateOf(detectAll(rulebook), 600),
  many: rateOf(detectAll(many), 600),
  parse: rateOf(parseAll, 300),
}));
const speed: DetectionSpeed = {
  providers: rulebook.providers.size,
  manyProviders: many.providers.size,
  services: evidence.reduce((sum, each) => sum + detect(each, rulebook).services.length, 0) / evidence.length,
  rate: median(rates.map((each) => each.detect)),
  manyRate: median(rates.map((each) => each.many)),
  slowdown: median(rates.map((each) => each.detect / each.many)),
  ofParse: median(rates.map((each) => each.detect / each.parse)),
};
reportReady(speed, async () => {});
