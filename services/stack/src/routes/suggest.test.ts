// Suggestions while a user types: the right names in the right order, nothing but names, bounded and limited.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sharedService } from '../test/shared.ts';
import type { Suggestions } from './suggest.ts';

const service = await sharedService();
/** Each time from another address, so that none asks too often. */
const ask = (query: string, headers: Record<string, string> = {}) =>
  service.fromElsewhere(`/suggest?${query}`, { headers });

async function suggest(q: string): Promise<Suggestions> {
  const { status, text } = await ask(`q=${encodeURIComponent(q)}`);
  assert.equal(status, 200, `${q}: ${text}`);
  return JSON.parse(text) as Suggestions;
}

const idsOf = ({ providers }: Suggestions) => providers.map(({ id }) => id);

it('suggestions are domains by the exact name, then by its beginning, then by any part', async () => {
  const names = service.internet.domains();
  for (const part of [...names.map((name) => name.slice(0, 3)), ...names, 'com', 'net', 'e.c', '.de']) {
    const classOf = (name: string) => (name === part ? 0 : name.startsWith(part) ? 1 : 2);
    const expected = names
      .filter((name) => name.includes(part))
      .toSorted((a, b) => classOf(a) - classOf(b) || (a < b ? -1 : 1));
    assert.deepEqual((await suggest(part)).domains, expected.slice(0, 8), part);
  }
});

it('suggestions contain each of several words, those that begin with the first one first', async () => {
  for (const q of ['pine clinic', 'Pine  Clinic', 'clinic pine'])
    assert.deepEqual((await suggest(q)).domains, ['pine-clinic.com'], q);
  const { domains } = await suggest('com pi');
  const expected = service.internet.domains().filter((name) => name.includes('com') && name.includes('pi'));
  const begins = (name: string) => Number(!name.startsWith('com'));
  assert.deepEqual(domains, expected.toSorted((a, b) => begins(a) - begins(b) || (a < b ? -1 : 1)).slice(0, 8));
  assert.ok(idsOf(await suggest('workspace google')).includes('google-workspace'));
});

it('suggestions begin with the text where that is short', async () => {
  for (const part of ['s', 'sk', 'q', 'zz']) {
    const { domains, providers } = await suggest(part);
    const expected = service.internet.domains().filter((name) => name.startsWith(part));
    assert.deepEqual(domains, expected.toSorted().slice(0, 8), part);
    for (const { name } of providers) assert.ok(name.toLowerCase().startsWith(part), `${part}: ${name}`);
  }
});

it('suggestions are providers by name, id and alias, whatever the case', async () => {
  assert.equal(idsOf(await suggest('CloudFlare'))[0], 'cloudflare');
  for (const q of ['  google workspace ', 'google-workspace'])
    assert.equal(idsOf(await suggest(q))[0], 'google-workspace');
  assert.ok(idsOf(await suggest('workspace')).includes('google-workspace'));
  assert.ok((await suggest('a')).providers.length <= 5);
  const { rulebook } = service.running.app;
  const aliased = [...rulebook.providers.values()].filter(({ aliases }) => aliases.length > 0).slice(0, 20);
  assert.equal(aliased.length, 20);
  for (const { id, aliases } of aliased) assert.ok(idsOf(await suggest(aliases[0] ?? '')).includes(id), aliases[0]);
});

it('suggestions are names alone: no evidence, no receipt, kept by no shared cache, and not counted as a request of the day', async () => {
  const { headers, body } = await ask('q=cloud', { 'x-stack-key': await service.newKey('free') });
  assert.deepEqual(Object.keys(body), ['domains', 'providers']);
  assert.equal(headers.get('cache-control'), 'private, max-age=30');
  assert.equal(headers.get('x-ratelimit-remaining'), null);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

it('suggestions are empty for empty text, and for text in no name', async () => {
  for (const q of ['', '   ', 'no name holds this', '\u0000', '☃☃☃', '%', "'; drop"])
    assert.deepEqual(await suggest(q), { domains: [], providers: [] }, q);
  assert.equal((await ask('')).status, 200);
});

it('suggestions refuse what is longer than any name, and two texts at once', async () => {
  for (const query of [`q=${'x'.repeat(254)}`, 'q=a&q=b']) {
    const { status, body } = await ask(query);
    assert.deepEqual([status, body.code], [400, 'invalid_parameter']);
  }
});

it('suggestions are refused to a network that asks too often, and to no other, until the time in Retry-After', async () => {
  const from = (address: string) => ask('q=a', { 'x-forwarded-for': address });
  const addresses = Array.from({ length: 120 }, (_, i) => `2001:db8:ffff:1::${i.toString(16)}`);
  const refused = (await Promise.all(addresses.map(from))).filter(({ status }) => status !== 200);
  assert.equal(refused.length, 20);
  for (const { status, body, headers } of refused) {
    assert.deepEqual([status, body.code], [429, 'quota_exceeded']);
    assert.match(headers.get('retry-after') ?? '', /^([1-9]|10)$/);
  }
  for (const address of ['192.0.2.2', '2001:db8:ffff:2::1']) assert.equal((await from(address)).status, 200);
});
