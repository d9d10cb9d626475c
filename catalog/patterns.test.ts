// Every pattern is found on its own, as a domain would publish it: no pattern is hidden by another or shows another
// provider.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { exampleProblems, patternProblems, patternsOf } from '@strata/detect';
import { entries } from './index.ts';
import { generator, providers, rulebook, servicesOf } from './test/shapes.ts';

/** A value that matches the pattern, with a version after its prefix. */
function textOf(start: string, prefix: string): string {
  if (start.startsWith(prefix)) return `${start}1.20.3`;
  const shown = `${prefix}1.20.3`;
  return shown.toLowerCase().includes(start.toLowerCase()) ? shown : `${start} ${shown}`;
}

it('every provider says of what kind it is', () => {
  for (const { id, kinds } of providers) assert.ok(kinds.length > 0, id);
});

it('every pattern of the catalog shows its provider in its category, or that the name is for sale, and no other provider', () => {
  assert.deepEqual(patternProblems(providers, rulebook), []);
  for (const { id, rules } of providers)
    for (const { html = {}, examples, counterexamples, ...group } of rules) {
      const listed = [...Object.values(group), ...Object.values(html)].filter(Array.isArray).flat();
      assert.equal(patternsOf({ ...group, html }).length, listed.length, id);
    }
});
it('the examples and counterexamples of the catalog hold', () =>
  assert.deepEqual(exampleProblems(providers, rulebook), []));
it('each example of the catalog has a pattern of its group', () => {
  // As written: a record is parsed once.
  for (const { id, rules } of entries as typeof providers)
    for (const { examples = [], ...group } of rules) {
      const own = patternsOf(group).map(({ pattern }) => `/${pattern}`);
      const isOwn = ({ rule }: { readonly rule: string }) => own.some((end) => rule.endsWith(end));
      const isShown = (record: object) => servicesOf(record).some(({ evidence }) => evidence.some(isOwn));
      for (const record of examples) assert.ok(isShown(record), `${id} ${JSON.stringify(record)}`);
    }
});
it('a file that three patterns of a provider match is one piece of evidence, by the most specific', () => {
  const [oneSignal] = servicesOf({ html: '<script src="https://cdn.onesignal.com/sdks/OneSignalSDK.js"></script>' });
  assert.deepEqual(
    oneSignal?.evidence.map(({ rule }) => rule),
    ['onesignal/html/cdn.onesignal.com'],
  );
});
it('an alias whose target is in the catalog with several labels is one piece of evidence', () => {
  for (const [target, rule] of [
    ['x.beesite.de', 'beesite.de'],
    ['x.sendgrid.net', 'go=sendgrid.net'],
  ] as const) {
    const [service] = servicesOf({ cname: { 'www.example.com': target } });
    assert.deepEqual(
      service?.evidence.map((each) => each.rule.split('/').at(-1)),
      [rule],
    );
  }
});
it('every pattern of the catalog with a version prefix shows the version after it', () => {
  const unread: string[] = [];
  for (const { id, rules } of providers) {
    for (const { header = [], html = {} } of rules) {
      const headers = header.flatMap(({ name, value = '', version }) =>
        version === undefined ? [] : [{ headers: { [name]: textOf(value, version) } }],
      );
      const generators = (html.generator ?? []).flatMap((given) =>
        typeof given === 'string' || given.version === undefined ? [] : [generator(textOf(given.start, given.version))],
      );
      for (const record of [...headers, ...generators]) {
        const version = servicesOf(record).find((each) => each.provider_id === id)?.version;
        if (!version?.endsWith('1.20.3')) unread.push(`${id} ${JSON.stringify(record)} ${version}`);
      }
    }
  }
  assert.deepEqual(unread, []);
});
