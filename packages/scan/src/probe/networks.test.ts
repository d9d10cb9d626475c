// Vanity name servers: those whose names do not identify their operator.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { txt, zone } from '../test/dns-server.ts';
import { scriptedResolver } from '../test/scripted-resolver.ts';
import { NetworkFinder } from './asn.ts';
import { vanityServers } from './networks.ts';

for (const [what, servers, expected] of casesOf<[string, string[], string[]][]>('scan', 'vanity servers'))
  it(`of name servers that are ${what}, ${expected.length} are asked for`, () =>
    assert.deepEqual(vanityServers('example.com', servers), expected));

const records = casesOf<[string, string][]>('scan', 'origins').map(([name, text]) => txt(name, text));
const none = { asn: null, asName: null, prefix: null };

for (const [address, expected] of casesOf<[string, { readonly status: string }][]>('scan', 'networks'))
  it(`the network of ${address} comes out ${expected.status}`, async () => {
    await using scripted = await scriptedResolver([zone(records)]);
    const found = await new NetworkFinder(scripted.resolver).find(address);
    assert.deepEqual(found, { address, ...none, ...expected });
  });

it('a second address of a prefix is not asked about', async () => {
  await using scripted = await scriptedResolver([zone(records)]);
  const finder = new NetworkFinder(scripted.resolver);
  const [first, second] = [await finder.find('93.184.216.34'), await finder.find('93.184.216.1')];
  assert.deepEqual([second, scripted.asked.length], [{ ...first, address: '93.184.216.1' }, 2]);
});
